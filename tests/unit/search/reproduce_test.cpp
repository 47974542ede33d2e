#include <doctest/doctest.h>

#include "mha/request.hpp"

using namespace mha;

TEST_CASE("the reproducing command names what differs from the defaults") {
  Request request;
  CHECK(reproduce_command(request) == "mha-configurator recommend");
  request.params = 1'300'000'000;
  request.seq_len = 32'768;
  request.target = "h100-sxm";
  request.batch = 16;
  CHECK(reproduce_command(request) ==
        "mha-configurator recommend --params 1.3B --seq-len 32k --target h100-sxm --batch 16");
  CHECK(reproduce_command(request, "explain").starts_with("mha-configurator explain "));
}

TEST_CASE("switches and limits are written as a shell takes them") {
  Request request;
  request.decoupled = true;
  request.gated_ffn = false;
  request.limits.push_back(*parse_assertion("kv_bytes_per_token <= 64KiB"));
  request.limits.push_back(*parse_assertion("n_kv_heads>=2"));
  request.d_head_reason = "it's wide";
  CHECK(reproduce_command(request) ==
        "mha-configurator recommend --gated-ffn=false --decoupled --d-head-reason 'it'\\''s wide' "
        "--limit 'kv_bytes_per_token <= 64KiB' --limit 'n_kv_heads>=2'");
}
