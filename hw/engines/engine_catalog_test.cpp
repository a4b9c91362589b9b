#include "hw/engines/engine_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/engines/size_list.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(EngineCatalog, AFamilyOfDevicesMayHaveADefaultOfItsOwn) {
  const EngineCatalog catalog;
  EXPECT_EQ(catalog.default_engine("neuron"), "neuron");
  EXPECT_EQ(catalog.default_engine("gpu"), catalog.default_engine());
  EXPECT_EQ(catalog.load("", {}, "neuron").spec.engine, "neuron");
  EXPECT_EQ(catalog.load(catalog.default_engine(), {}, "neuron").spec.engine,
            catalog.default_engine());
}

TEST(EngineCatalog, EveryFileLoadsAndFollowsItsRules) {
  const EngineCatalog catalog;
  ASSERT_FALSE(catalog.ids().empty());
  for (const std::string& id : catalog.ids()) {
    const EngineSpec spec = catalog.load(id).spec;
    EXPECT_EQ(spec.id, id);
    EXPECT_GE(spec.limits.max_tokens, spec.limits.max_sequences > 2048 ? 1 : 128) << id;
    if (spec.schedule.preemption == "never") {
      EXPECT_EQ(spec.schedule.admission, "full") << id << ": nothing would give blocks back";
    }
  }
}

// Words drawn from a vocabulary, 6.4 B each, at the published speed of the tokenizer that the
// servers call (HFTOKENIZE): 1.93 MB/s of sentences, 1.28 of one long text.
TEST(EngineCatalog, TextsAreReadAtThePublishedSpeed) {
  const EngineCatalog catalog;
  int servers = 0;
  for (const std::string& id : catalog.ids()) {
    const EngineSpec spec = catalog.load(id).spec;
    if (spec.host.per_prompt_token == Seconds(0)) continue;  // tokens come from outside
    ++servers;
    EXPECT_GE(spec.host.per_prompt_token.value(), 6.4 / 1.93e6) << id;
    EXPECT_LE(spec.host.per_prompt_token.value(), 6.4 / 1.28e6) << id;
  }
  EXPECT_GE(servers, 9);
}

TEST(EngineCatalog, AReleaseMeansTheFileBeforeIt) {
  const EngineCatalog catalog;
  EXPECT_EQ(catalog.load("vllm@0.6.3").spec.id, "vllm-0.2");
  EXPECT_EQ(catalog.load("vllm@0.8.5.post1").spec.id, "vllm-0.8");
  EXPECT_EQ(catalog.load("vllm@0.9").spec.id, "vllm-0.8");
  EXPECT_EQ(catalog.load("vLLM").spec.id, catalog.load("vllm@0.19.0").spec.id);
  EXPECT_EQ(catalog.load("trtllm@1.0.0rc3").spec.id, "trtllm-0.20");
}

TEST(EngineCatalog, ReleasesCompareNumberByNumber) {
  EXPECT_EQ(compare_versions("0.10", "0.9"), 1);
  EXPECT_EQ(compare_versions("1.0.0rc3", "1.0"), 0);
  EXPECT_EQ(compare_versions("0.5.1-rc0.pre3", "0.5.2"), -1);
}

TEST(EngineCatalog, RefusesWhatIsUnknown) {
  const EngineCatalog catalog;
  EXPECT_THAT(message_of([&] { catalog.load("vlm"); }), HasSubstr("nearest is 'vllm'"));
  EXPECT_THAT(message_of([&] { catalog.load("vllm@0.1"); }), HasSubstr("from release 0.2 on"));
  EXPECT_THAT(message_of([&] { catalog.load("vllm@new"); }), HasSubstr("no release"));
  EXPECT_THAT(message_of([&] { catalog.load("vllm", {"engine.host.perstep=1 ms"}); }),
              HasSubstr("per_step"));
  EXPECT_THAT(message_of([&] { catalog.load("vllm", {"engine.graphs.sizes=8,4"}); }),
              HasSubstr("ascend"));
}

TEST(EngineCatalog, ArchitecturesAreThoseThatThereAre) {
  const EngineCatalog catalog;
  EXPECT_EQ(catalog.load("vllm", {"engine.host.first_on=hopper"}).spec.host.first_on, "hopper");
  const std::string message =
      message_of([&] { catalog.load("vllm", {"engine.host.first_on=hoper"}); });
  EXPECT_THAT(message, HasSubstr("--set engine.host.first_on: unknown architecture 'hoper'"));
  EXPECT_THAT(message, HasSubstr("nearest is 'hopper'"));
  EXPECT_THAT(message, HasSubstr("there are: "));
  EXPECT_THAT(message, HasSubstr("blackwell"));
}

TEST(EngineCatalog, RoomIsANumberOfTokens) {
  const EngineCatalog catalog;
  EXPECT_EQ(catalog.load("sglang").spec.schedule.room_first, "512");
  EXPECT_EQ(catalog.load("sglang", {"engine.schedule.room_first=no"}).spec.schedule.room_first,
            "no");
  for (const char* wrong : {"yes", "-1", "many"}) {
    const std::string set = std::string("engine.schedule.room_first=") + wrong;
    EXPECT_THAT(message_of([&] { catalog.load("sglang", {set}); }),
                HasSubstr("neither 'no' nor a number of tokens"))
        << wrong;
  }
}

TEST(EngineCatalog, AFileOfTheUserIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("mine-1.yaml", "id: mine-1\nname: Mine\nlibrary: vllm\nschedule:\n  ordr: 1\n");
  const std::string message = message_of([&] { EngineCatalog().load(path); });
  EXPECT_THAT(message, HasSubstr("mine-1.yaml:5"));
  EXPECT_THAT(message, HasSubstr("nearest is 'order'"));
  EXPECT_THAT(message, HasSubstr("limits"));
}

TEST(SizeList, RangesAreSpelledOut) {
  EXPECT_THAT(parse_size_list("1,2,4,8..24/8"), ElementsAre(1, 2, 4, 8, 16, 24));
  EXPECT_THAT(parse_size_list("none"), ElementsAre());
  EXPECT_EQ(padded_size({1, 2, 4}, 3), 4);
  EXPECT_EQ(padded_size({1, 2, 4}, 5), 0);
  for (const char* wrong : {"a", "4,2", "8..4", "8..16", "0,1", "1,,2", "1..9/0"}) {
    EXPECT_THROW(parse_size_list(wrong), UserError) << wrong;
  }
}

TEST(EngineCatalog, AReleaseIsNumbersAndWhatMayFollowThem) {
  const EngineCatalog catalog;
  for (const char* good : {"0.10", "0.5.1-rc0.pre1", "0.5.1.post1", "1.2.0rc6.post2", "1.1.0rc2"})
    EXPECT_NO_THROW(catalog.load(std::string("trtllm@") + good)) << good;
  for (const char* bad : {"0.10x", "1.2.", ".8", "1.0abc", "1.0-", "v1"}) {
    const std::string message = message_of([&] { catalog.load(std::string("trtllm@") + bad); });
    EXPECT_THAT(message, HasSubstr(std::string("'") + bad + "' is no release")) << bad;
  }
}

}  // namespace
}  // namespace foretell
