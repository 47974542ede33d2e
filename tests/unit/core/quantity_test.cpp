#include "mha/quantity.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "mha/limits.hpp"

using namespace mha;

namespace {

constexpr std::int64_t kMost = limits::kMaxParams;

std::int64_t count(std::string_view text) {
  const auto value = parse_count(text, 0, kMost);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *value;
}

std::int64_t length(std::string_view text) {
  const auto value = parse_length(text, 1, limits::kMaxContext);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *value;
}

i128 bytes(std::string_view text) {
  const auto value = parse_bytes(text);
  REQUIRE_MESSAGE(value.has_value(), text);
  return value->value();
}

// The one problem of a refused text. Every refusal must say something about the text and how to mend it.
template <class T>
Diagnostic refused(const Expected<T>& value, std::string_view text) {
  REQUIRE_MESSAGE(!value.has_value(), text);
  REQUIRE(value.error().size() == 1);
  const Diagnostic problem = value.error()[0];
  CHECK_MESSAGE(!problem.what.empty(), text);
  CHECK_MESSAGE(!problem.hint.empty(), text);
  CHECK_MESSAGE(problem.where.file.empty(), text);
  if (!text.empty() && text.size() < 40 && text[0] >= 32)
    CHECK_MESSAGE(problem.what.find(text) != std::string::npos, problem.what);
  return problem;
}

Diagnostic refused_count(std::string_view text) {
  return refused(parse_count(text, 1, kMost), text);
}

}  // namespace

TEST_CASE("counts are read exactly with decimal suffixes") {
  CHECK(count("1.3B") == 1'300'000'000);
  CHECK(count("350M") == 350'000'000);
  CHECK(count("128_000") == 128'000);
  CHECK(count("1e9") == 1'000'000'000);
  CHECK(count("70.6b") == 70'600'000'000);
  CHECK(count("8.03B") == 8'030'000'000);
  CHECK(count("2k") == 2'000);
  CHECK(count("7G") == 7'000'000'000);
  CHECK(count("0") == 0);
  CHECK(count("1.5e1") == 15);
  CHECK(count("2500e-2") == 25);
  CHECK(count("0.000_000_001B") == 1);
  CHECK(count("999_999_999_999_999") == 999'999'999'999'999);
  CHECK(count("1P") == kMost);
}

TEST_CASE("what a double would round is still exact") {
  // 2^53 + 1 has no double.
  CHECK(*parse_count("9_007_199_254_740_993", 0, std::numeric_limits<std::int64_t>::max()) == 9'007'199'254'740'993);
  CHECK(*parse_count("9223372036854775807", 0, std::numeric_limits<std::int64_t>::max()) ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(refused(parse_count("9223372036854775808", 0, std::numeric_limits<std::int64_t>::max()), "9223372036854775808")
            .code == "out-of-range");
}

TEST_CASE("text that is no count is refused with what and hint") {
  for (const std::string_view text :
       {"",      "abc", "12abc", "0x10", "NaN",  "inf",  "-",     "+5",      ".5",  "5.",   "1e",      "1e+",
        "1.5.2", "_1",  "1_",    "1__0", "1_.5", "1._5", "1_k",   "010",     "00",  "32kk", "1,300",   " 1",
        "1 ",    "1 2", "1 300", "\t1",  "1K M", "B",    "1.3BB", "1.3 B B", "--1", "1-",   "\xC2\xB2"}) {
    const Diagnostic problem = refused_count(text);
    CHECK_MESSAGE((problem.code == "bad-number" || problem.code == "bad-suffix"), problem.code);
  }
  CHECK(refused_count("").what == "an empty value is not a count");
  CHECK(refused_count("010").what.find("leading zero") != std::string::npos);
  CHECK(refused_count("1__0").what.find("underscore") != std::string::npos);
}

TEST_CASE("a fraction is no count") {
  for (const std::string_view text : {"1.5", "0.1", "1e-1", "1.2345K", "0.3e0", "1.0000000000000000000000000001"}) {
    const Diagnostic problem = refused_count(text);
    CHECK_MESSAGE(problem.code == "not-whole", text);
    CHECK(problem.what.find("whole number") != std::string::npos);
  }
}

TEST_CASE("out of range names the limit") {
  const Diagnostic high = refused_count("1e30");
  CHECK(high.code == "out-of-range");
  CHECK(high.what == "1e30 is above the limit, 1,000,000,000,000,000");
  CHECK(high.hint == "give a whole number from 1 to 1000000000000000, such as 1.3B");
  for (const std::string_view text : {"1e999999999999", "123456789012345678901234567890123456789", "2P", "1000.1e12"}) {
    CHECK_MESSAGE(refused_count(text).code == "out-of-range", text);
  }
  const Diagnostic low = refused_count("0");
  CHECK(low.code == "out-of-range");
  CHECK(low.what == "0 is below the least, 1");

  const Diagnostic negative = refused(parse_length("-1", 1, limits::kMaxContext), "-1");
  CHECK(negative.code == "out-of-range");
  CHECK(negative.what == "-1 is not a length in tokens");
  CHECK(negative.hint == "give a whole number from 1 to 1073741824, such as 32k");
  CHECK(refused_count("-1e30").code == "out-of-range");
  CHECK(*parse_count("-12", -20, 20) == -12);
  CHECK(refused(parse_count("-21", -20, 20), "-21").what == "-21 is below the least, -20");
  CHECK(refused(parse_count("-1e30", -20, 20), "-1e30").what == "-1e30 is below the least, -20");
}

TEST_CASE("an example in a hint is itself allowed") {
  CHECK(refused(parse_count("x", 1, 16), "x").hint == "give a whole number from 1 to 16");
  CHECK(refused(parse_count("x", 1, 64), "x").hint == "give a whole number from 1 to 64, such as 32");
  CHECK(refused(parse_count("x", 4, 4), "x").hint == "it can only be 4");
}

TEST_CASE("lengths count tokens in powers of two") {
  CHECK(length("32k") == 32'768);
  CHECK(length("32K") == 32'768);
  CHECK(length("32Ki") == 32'768);
  CHECK(length("32ki") == 32'768);
  CHECK(length("1M") == 1'048'576);
  CHECK(length("1Mi") == 1'048'576);
  CHECK(length("0.5k") == 512);
  CHECK(length("1e6") == 1'000'000);
  CHECK(length("128_000") == 128'000);
  CHECK(length("0.000_976_562_5k") == 1);
  for (const std::string_view text : {"32kk", "32B", "32kB", "1G", "32kib"}) {
    CHECK_MESSAGE(refused(parse_length(text, 1, limits::kMaxContext), text).code == "bad-suffix", text);
  }
  CHECK(refused(parse_length("0.3k", 1, limits::kMaxContext), "0.3k").code == "not-whole");
  CHECK(refused(parse_length("1025M", 1, limits::kMaxContext), "1025M").code == "out-of-range");
}

TEST_CASE("bytes keep decimal and binary apart") {
  CHECK(bytes("80GiB") == i128{80} << 30);
  CHECK(bytes("24GB") == 24'000'000'000);
  CHECK(bytes("512KiB") == 524'288);
  CHECK(bytes("3.5GiB") == 3'758'096'384);
  CHECK(bytes("1024") == 1024);
  CHECK(bytes("7B") == 7);
  CHECK(bytes("64 KiB") == 65'536);
  CHECK(bytes("1tb") == 1'000'000'000'000);
  CHECK(bytes("2PiB") == i128{2} << 50);
  CHECK(bytes("0") == 0);
  for (const std::string_view text : {"80G", "80k", "1.5T"}) {
    const Diagnostic problem = refused(parse_bytes(text), text);
    CHECK(problem.code == "ambiguous-unit");
    CHECK(problem.hint == "write " + std::string(text) + "B or " + std::string(text) + "iB");
  }
  CHECK(refused(parse_bytes("80Gb"), "80Gb").code == "ambiguous-unit");
  CHECK(refused(parse_bytes("80Gi"), "80Gi").code == "bad-suffix");
  CHECK(refused(parse_bytes("80XB"), "80XB").code == "bad-suffix");
  CHECK(refused(parse_bytes("80GiBs"), "80GiBs").code == "bad-suffix");
  CHECK(refused(parse_bytes("0.5B"), "0.5B").code == "not-whole");
  CHECK(refused(parse_bytes("1.1KiB"), "1.1KiB").code == "not-whole");
  CHECK(refused(parse_bytes("-1GiB"), "-1GiB").code == "out-of-range");
  CHECK(refused(parse_bytes("1e30"), "1e30").code == "out-of-range");
  CHECK(refused(parse_bytes("GiB"), "GiB").code == "bad-number");
  CHECK(refused(parse_bytes(""), "").code == "bad-number");
}

TEST_CASE("rates are positive and finite") {
  CHECK(*parse_rate("3.35TB") == 3.35e12);
  CHECK(*parse_rate("989T") == 989e12);
  CHECK(*parse_rate("0.5e12") == 0.5e12);
  CHECK(*parse_rate("11.4GB") == 11.4e9);
  CHECK(*parse_rate("0.0114TB") == 0.0114e12);
  for (const std::string_view text : {"0", "-3TB", "1e400", "0T"}) {
    CHECK_MESSAGE(refused(parse_rate(text), text).code == "out-of-range", text);
  }
  for (const std::string_view text : {"3.35TiBx", "3TT", "3 T B", "3%"}) {
    CHECK_MESSAGE(refused(parse_rate(text), text).code == "bad-suffix", text);
  }
  CHECK(refused(parse_rate("nan"), "nan").code == "bad-number");
}

TEST_CASE("plain decimal numbers are correctly rounded") {
  CHECK(*parse_real("-0.005") == -0.005);
  CHECK(*parse_real("1e-3") == 0.001);
  CHECK(*parse_real("406.4") == 406.4);
  CHECK(*parse_real("1_000.25") == 1000.25);
  CHECK(*parse_real("0") == 0.0);
  CHECK(*parse_real("-0.0") == 0.0);
  CHECK(*parse_real("0.1") == 0.1);
  CHECK(*parse_real("179769313486231570000e288") == std::numeric_limits<double>::max());
  for (const std::string_view text : {"1k", "0.5x", "50%", "0x1p3"}) {
    CHECK_MESSAGE(refused(parse_real(text), text).code == "bad-suffix", text);
  }
  for (const std::string_view text : {"", "nan", "inf", "-inf", ".5", "1,5", "--1", "01.5"}) {
    CHECK_MESSAGE(!parse_real(text).has_value(), text);
  }
  CHECK(refused(parse_real("1e400"), "1e400").code == "out-of-range");
  CHECK(refused(parse_real("-1e400"), "-1e400").code == "out-of-range");
}

TEST_CASE("only true and false are booleans") {
  CHECK(*parse_bool("true"));
  CHECK_FALSE(*parse_bool("false"));
  for (const std::string_view text : {"", "yes", "on", "True", "1", "truer"}) {
    CHECK(refused(parse_bool(text), text).code == "bad-boolean");
  }
}

TEST_CASE("messages shorten long texts and escape control characters") {
  const std::string text(100'000, 'x');
  const auto value = parse_count(text, 1, 10);
  REQUIRE_FALSE(value.has_value());
  CHECK(value.error()[0].what.size() < 150);
  CHECK(parse_count("1\n2", 1, 10).error()[0].what.find("'1\\x0a2'") == 0);
  CHECK_FALSE(parse_count("1" + std::string(5'000'000, '0'), 1, 10).has_value());
}

TEST_CASE("grouped digits") {
  CHECK(print_grouped(0) == "0");
  CHECK(print_grouped(999) == "999");
  CHECK(print_grouped(1'000) == "1,000");
  CHECK(print_grouped(6'738'415'616) == "6,738,415,616");
  CHECK(print_grouped(-1'234) == "-1,234");
  CHECK(print_grouped(-123) == "-123");
}

TEST_CASE("counts print with three significant digits") {
  CHECK(print_count(0) == "0");
  CHECK(print_count(999) == "999");
  CHECK(print_count(1'000) == "1.00K");
  CHECK(print_count(6'738'415'616) == "6.74B");
  CHECK(print_count(1'300'000'000) == "1.30B");
  CHECK(print_count(70'600'000'000) == "70.6B");
  CHECK(print_count(125'000'000) == "125M");
  CHECK(print_count(9'994) == "9.99K");
  CHECK(print_count(9'995) == "10.0K");
  CHECK(print_count(99'950) == "100K");
  CHECK(print_count(999'499) == "999K");
  CHECK(print_count(999'500) == "1.00M");
  CHECK(print_count(-1'500) == "-1.50K");
  CHECK(print_count(i128{5'000'000'000'000'000} * 1000) == "5000P");
}

TEST_CASE("bytes print in binary units") {
  CHECK(print_bytes(Bytes(512)) == "512 B");
  CHECK(print_bytes(Bytes(1023)) == "1023 B");
  CHECK(print_bytes(Bytes(1024)) == "1.00 KiB");
  CHECK(print_bytes(Bytes(327'680)) == "320 KiB");
  CHECK(print_bytes(Bytes(i128{5} << 29)) == "2.50 GiB");
  CHECK(print_bytes(Bytes(i128{1023} << 20)) == "1023 MiB");
  CHECK(print_bytes(Bytes((i128{1} << 30) - 1)) == "1.00 GiB");
  CHECK(print_bytes(Bytes(i128{80} << 30)) == "80.0 GiB");
  CHECK(print_bytes(Bytes(0)) == "0 B");
}

TEST_CASE("printed bytes can be read again when they are whole") {
  for (const i128 value : {i128{0}, i128{512}, i128{5} << 29, i128{80} << 30, i128{320} << 10}) {
    CHECK(bytes(print_bytes(Bytes(value))) == value);
  }
}

TEST_CASE("FLOPs print in decimal units") {
  CHECK(print_flops(Flops(42)) == "42 FLOP");
  CHECK(print_flops(Flops(1'080'000'000'000'000)) == "1.08 PFLOP");
  CHECK(print_flops(Flops(i128{17} * 1'000'000'000'000'000'000)) == "17.0 EFLOP");
  const i128 most = static_cast<i128>(~u128{0} >> 1U);
  CHECK(print_flops(Flops(most)) == "170141183 QFLOP");
}

TEST_CASE("lengths print with k only when thousands are not meant") {
  CHECK(print_length(32'768) == "32k");
  CHECK(print_length(1'048'576) == "1M");
  CHECK(print_length(1'536 * 1024) == "1536k");
  CHECK(print_length(128'000) == "128,000");
  CHECK(print_length(1'000'000) == "1,000,000");
  CHECK(print_length(513) == "513");
  CHECK(print_length(0) == "0");
}

TEST_CASE("printed lengths can be read again") {
  for (const std::int64_t tokens : {1'024, 2'048, 32'768, 131'072, 1'048'576, 10'485'760, 1'073'741'824}) {
    CHECK(length(print_length(tokens)) == tokens);
  }
}

TEST_CASE("seconds print with three significant digits") {
  CHECK(print_seconds(0) == "0 s");
  CHECK(print_seconds(0.0123) == "12.3 ms");
  CHECK(print_seconds(1) == "1.00 s");
  CHECK(print_seconds(59.96) == "60.0 s");
  CHECK(print_seconds(1234.5) == "1230 s");
  CHECK(print_seconds(0.0009996) == "1.00 ms");
  CHECK(print_seconds(0.999e-3) == "999 us");
  CHECK(print_seconds(5.432e-9) == "5.43 ns");
  CHECK(print_seconds(1e-12) == "1.00e-12 s");
  CHECK(print_seconds(-0.5) == "-500 ms");
  CHECK(print_seconds(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("fixed decimals have no negative zero") {
  CHECK(print_fixed(1.005, 2) == "1.00");
  CHECK(print_fixed(-0.0041, 4) == "-0.0041");
  CHECK(print_fixed(-0.001, 2) == "0.00");
  CHECK(print_fixed(12.5, 0) == "12");
  CHECK(print_fixed(1e300, 0).size() == 301);
  CHECK(print_fixed(std::nan(""), 3) == "nan");
}
