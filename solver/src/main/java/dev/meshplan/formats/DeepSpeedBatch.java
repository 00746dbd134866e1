package dev.meshplan.formats;

import dev.meshplan.config.Section;
import java.util.List;
import java.util.stream.Stream;

/** The batch triple of a DeepSpeed configuration. */
final class DeepSpeedBatch {
  private final Section top;
  private final List<Finding> findings;

  DeepSpeedBatch(Section top, List<Finding> findings) {
    this.top = top;
    this.findings = findings;
  }

  private void illegal(String id, String sentence, String says, String cure) {
    findings.add(Finding.illegal(id, sentence, says, cure));
  }

  /**
   * Global batch, micro-batch, accumulation by DeepSpeed's own floor divisions; empty when they are
   * not said.
   */
  int[] read(int dp) {
    List<String> auto =
        Stream.of(
                "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
            .filter(key -> top.has(key) && top.text(key, "").equals("auto"))
            .toList();
    if (!auto.isEmpty()) {
      illegal(
          "batch-auto",
          String.join(", ", auto)
              + (auto.size() == 1 ? " is auto" : " are auto")
              + ", which only Hugging Face's trainer fills in",
          "unsupported operand type(s) for //: 'str' and 'int'",
          "write the numbers, or give the trainer's launch script too: --launch FILE");
      return new int[0];
    }
    int train = DeepSpeedReader.number(top, "train_batch_size", 0);
    int micro = DeepSpeedReader.number(top, "train_micro_batch_size_per_gpu", 0);
    int steps = DeepSpeedReader.number(top, "gradient_accumulation_steps", 0);
    if (train == 0 && micro == 0) {
      illegal(
          "batch-missing",
          "neither train_batch_size nor train_micro_batch_size_per_gpu is given",
          "Either train_batch_size or train_micro_batch_size_per_gpu needs to be provided",
          "give the micro-batch and the accumulation steps");
      return new int[0];
    }
    if (train > 0 && micro > 0 && steps == 0) {
      steps = train / micro / dp;
    } else if (train > 0 && micro == 0) {
      steps = Math.max(1, steps);
      micro = train / dp / steps;
    } else if (train == 0) {
      steps = Math.max(1, steps);
      train = micro * steps * dp;
    }
    if (steps == 0 || micro == 0) {
      illegal(
          "batch-product",
          "train_batch_size "
              + train
              + " is less than "
              + (micro == 0 ? "" : micro + " x ")
              + dp
              + " ranks",
          (micro == 0 ? "Micro batch size per gpu: 0" : "Gradient accumulation steps: 0")
              + " has to be greater than 0",
          "train_batch_size " + Math.max(1, micro) * dp + " or more");
    } else if (train != micro * steps * dp) {
      illegal(
          "batch-product",
          "train_batch_size "
              + train
              + " is not micro x steps x dp = "
              + micro
              + " x "
              + steps
              + " x "
              + dp
              + " = "
              + micro * steps * dp,
          "Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu *"
              + " gradient_acc_step * world_size",
          "train_batch_size " + micro * steps * dp);
    }
    return new int[] {Math.max(1, train), Math.max(1, micro), Math.max(1, steps)};
  }
}
