package dev.meshplan.formats;

import java.util.Set;

/** Keys that DeepSpeed knows; it ignores other top-level ones and refuses others inside ZeRO. */
final class DeepSpeedKeys {
  static final Set<String> TOP =
      Set.of(
          """
          train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps
          optimizer scheduler communication_data_type seq_parallel_communication_data_type
          prescale_gradients gradient_predivide_factor sparse_gradients fp16 bf16 bfloat16 amp
          torch_autocast gradient_clipping zero_optimization aio data_types
          zero_allow_untested_optimizer zero_force_ds_cpu_optimizer steps_per_print
          wall_clock_breakdown dump_state flops_profiler activation_checkpointing
          sparse_attention pipeline tensor_parallel expert_parallel sequence_parallel_size
          comms_logger monitor_config tensorboard wandb csv_monitor comet elasticity
          compression_training data_efficiency curriculum_learning checkpoint autotuning
          compile gradient_allreduce_op hybrid_engine timers use_node_local_storage
          load_universal_checkpoint memory_breakdown
          """
              .strip()
              .split("\\s+"));
  static final Set<String> ZERO =
      Set.of(
          """
          stage contiguous_gradients reduce_scatter reduce_bucket_size
          use_multi_rank_bucket_allreduce allgather_partitions allgather_bucket_size
          overlap_comm load_from_fp32_weights elastic_checkpoint offload_param
          offload_optimizer zenflow sub_group_size cpu_offload_param
          cpu_offload_use_pin_memory cpu_offload prefetch_bucket_size
          stage3_prefetch_bucket_size stage3_param_persistence_threshold
          stage3_model_persistence_threshold stage3_max_live_parameters
          stage3_max_reuse_distance stage3_gather_16bit_weights_on_model_save
          stage3_gather_fp16_weights_on_model_save stage3_use_all_reduce_for_fetch_params
          module_granularity_threshold stage3_module_granularity_threshold
          stage3_allgather_sequential use_all_reduce_for_fetch_params ignore_unused_parameters
          legacy_stage1 round_robin_gradients zero_hpz_partition_size zero_quantized_weights
          zero_quantized_nontrainable_weights zero_quantized_gradients zeropp_loco_param
          mics_shard_size mics_hierarchical_params_gather memory_efficient_linear
          pipeline_loading_checkpoint override_module_apply log_trace_cache_warnings
          save_muon_momentum_buffer_in_memory
          """
              .strip()
              .split("\\s+"));

  private DeepSpeedKeys() {}
}
