package dev.meshplan.estimate;

/** Parts of the time of a layer, head or loss. Traffic parts carry link and exposed seconds. */
enum Part {
  GEMM("dense matrix products", "2 M N K / (peak x efficiency), in waves of tiles"),
  EXPERT_GEMM("grouped matrix products of routed experts", "2 rows N K / (peak x efficiency)"),
  SHARED_EXPERTS("shared experts", "matrix products and activation of the shared width"),
  ROUTER("router", "2 tokens hidden experts / (25% of the 16-bit peak), and its bytes"),
  PERMUTE("permutation of expert tokens", "8 tokens top_k hidden bytes / memory bandwidth"),
  EXPERT_ACTIVATION("expert activation", "bytes per row and width / memory bandwidth"),
  ATTENTION_CORE("attention core", "2 tokens span (qk + v) heads / (16-bit peak x efficiency)"),
  SCAN("recurrent scan", "bytes per inner element and token / memory bandwidth"),
  ELEMENTWISE("norms, residuals, rotary, activations", "bytes / memory bandwidth"),
  KERNEL_GAPS("gaps between kernels", "kernels x gap"),
  CASTS("casts to low precision", "bytes per element cast / memory bandwidth"),
  TENSOR_TRAFFIC("tensor-parallel collectives", "all-gather and reduce-scatter per block"),
  CONTEXT_TRAFFIC("context-parallel exchange", "keys and values around the group"),
  EXPERT_TRAFFIC("expert exchange", "dispatch and combine, both ways"),
  HEAD("output head", "tokens x vocabulary x hidden in 16 bit"),
  LOSS("loss", "bytes per logit / memory bandwidth"),
  RECOMPUTE("recompute", "the forward time of what is computed again"),
  LAUNCH_FLOOR("waiting for the CPU to launch kernels", "(gpu^4 + host^4)^(1/4) - gpu");

  static final int COUNT = values().length;

  final String words;
  final String formula;

  Part(String words, String formula) {
    this.words = words;
    this.formula = formula;
  }

  String id() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
