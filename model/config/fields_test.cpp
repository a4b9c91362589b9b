#include "model/config/fields.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {

using namespace literals;

// A small spec with one member of every kind.
struct MemorySpec {
  BytesPerSecond bandwidth{100e9};
  Seconds latency{1e-7};
};
struct ChipSpec {
  int cores = 2;
  double efficiency = 1;
  std::string topology = "ring";
  MemorySpec memory;
  std::map<std::string, double> price;
  std::map<std::string, double> release;
};

void fields(FieldList& list, MemorySpec& spec) {
  list.value("bandwidth", spec.bandwidth, {1.0_GBps, 1000.0_GBps}, "Peak rate.");
  list.value("latency", spec.latency, {Seconds(0), 1.0_ms}, "First byte.");
}

void fields(FieldList& list, ChipSpec& spec) {
  list.count("cores", spec.cores, {1, 64}, "Cores.");
  list.value("efficiency", spec.efficiency, {0.1, 2}, "A ratio.");
  list.text("topology", spec.topology, {"none", "ring"}, "Wiring.");
  list.group("memory", spec.memory);
  list.table("price", spec.price, {"on_demand", "reserved"},
             Range<UsdPerSecond>{Usd(0) / Seconds(1), Usd(1) / Seconds(1)}, Usd(1) / Seconds(3600),
             "Price.");
  list.open_table(
      "release", spec.release,
      [](const std::string& key) {
        if (key.empty() || key[0] != 'v') throw UserError("'" + key + "' is no release");
      },
      {0.5, 2}, "Slowdown.");
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Fields : public ::testing::Test {
 protected:
  Fields() { fields(list_, chip_); }

  std::string assign(const std::string& path, const std::string& text) {
    try {
      list_.at(path).assign(text);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::string load(const std::string& text) {
    Problems problems;
    load_fields(parse_document(text, "x.yaml"), list_, {"id"}, read_plain_value, problems);
    try {
      problems.throw_if_any();
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  ChipSpec chip_;
  FieldList list_;
};

const char* const kGood =
    "id: chip\ncores: 4\nefficiency: 0.5\ntopology: none\n"
    "memory: {bandwidth: 820 GB/s, latency: 10 ns}\nprice: {on_demand: 0.76 USD/h}\n"
    "release: {v1.2: 1.5}\n";

TEST_F(Fields, LoadFillsEveryMember) {
  ASSERT_EQ(load(kGood), "accepted");
  EXPECT_EQ(chip_.cores, 4);
  EXPECT_EQ(chip_.efficiency, 0.5);
  EXPECT_EQ(chip_.topology, "none");
  EXPECT_EQ(chip_.memory.bandwidth.value(), 820e9);
  EXPECT_DOUBLE_EQ(chip_.memory.latency.value(), 10e-9);
  EXPECT_DOUBLE_EQ(chip_.price.at("on_demand"), 0.76);
  EXPECT_EQ(chip_.price.count("reserved"), 0U);
  EXPECT_EQ(chip_.release.at("v1.2"), 1.5);
}

TEST_F(Fields, TextIsTheValueWithItsUnit) {
  ASSERT_EQ(load(kGood), "accepted");
  EXPECT_EQ(list_.at("memory.bandwidth").text(), "820 GB/s");
  EXPECT_EQ(list_.at("price.on_demand").text(), "0.76 USD/h");
  EXPECT_EQ(list_.at("price.reserved").text(), "");
  EXPECT_FALSE(list_.at("price.reserved").has_value());
  EXPECT_EQ(list_.at("cores").text(), "4");
  EXPECT_EQ(list_.at("topology").text(), "none");
}

TEST_F(Fields, BothEndsOfARangeAreInside) {
  EXPECT_EQ(assign("memory.bandwidth", "1 GB/s"), "accepted");
  EXPECT_EQ(assign("memory.bandwidth", "1 TB/s"), "accepted");
  EXPECT_EQ(assign("memory.bandwidth", "0.999 GB/s"), "'0.999 GB/s' is outside 1 GB/s .. 1 TB/s");
  EXPECT_EQ(assign("memory.bandwidth", "1.001 TB/s"), "'1.001 TB/s' is outside 1 GB/s .. 1 TB/s");
  EXPECT_EQ(assign("memory.bandwidth", "-820 GB/s"), "'-820 GB/s' is outside 1 GB/s .. 1 TB/s");
  EXPECT_EQ(assign("cores", "1"), "accepted");
  EXPECT_EQ(assign("cores", "64"), "accepted");
  EXPECT_EQ(assign("cores", "0"), "'0' is outside whole number 1 .. 64");
  EXPECT_EQ(assign("cores", "65"), "'65' is outside whole number 1 .. 64");
  EXPECT_EQ(assign("cores", "1e12"), "'1e12' is outside whole number 1 .. 64");
}

TEST_F(Fields, ARefusedValueLeavesTheMemberAlone) {
  assign("memory.bandwidth", "2 TB/s");
  assign("cores", "2.5");
  assign("topology", "star");
  EXPECT_EQ(chip_.memory.bandwidth.value(), 100e9);
  EXPECT_EQ(chip_.cores, 2);
  EXPECT_EQ(chip_.topology, "ring");
}

TEST_F(Fields, TextsAreOneOfTheChoices) {
  EXPECT_EQ(assign("topology", "rings"), "'rings' is not one of: none, ring; nearest is 'ring'");
  EXPECT_EQ(assign("topology", ""), "the value is empty");
}

TEST_F(Fields, UnknownPathsNameTheNearest) {
  EXPECT_EQ(assign("memory.bandwith", "1 GB/s"),
            "memory.bandwith: no such parameter; nearest is 'memory.bandwidth'");
  EXPECT_EQ(assign("latency", "1 ns"), "latency: no such parameter; nearest is 'memory.latency'");
  EXPECT_EQ(assign("chip.memory.latency", "1 ns"),
            "chip.memory.latency: no such parameter; nearest is 'memory.latency'");
  EXPECT_EQ(assign("colour", "red"),
            "colour: no such parameter; `foretell show` of the system lists them");
}

TEST_F(Fields, AGroupIsNoParameter) {
  EXPECT_EQ(assign("memory", "1"),
            "memory: a group, not a parameter; in it are: bandwidth, latency");
  EXPECT_THAT(assign("release", "1"), HasSubstr("release: a group"));
}

TEST_F(Fields, OpenTablesTakeNewKeysThatAreValid) {
  EXPECT_EQ(assign("release.v2", "1.1"), "accepted");
  EXPECT_EQ(chip_.release.at("v2"), 1.1);
  EXPECT_EQ(assign("release.v2", "2.1"), "'2.1' is outside 0.5 .. 2");
  EXPECT_EQ(assign("release.2", "1.1"), "'2' is no release");
}

TEST_F(Fields, UnknownKeysNameTheNearestOfTheirGroup) {
  EXPECT_EQ(
      load("cores: 4\nefficency: 1\ntopology: none\nmemory:\n  bandwith: 1 GB/s\n  latency: 0 s\n"),
      "x.yaml:2: efficency: no such parameter; nearest is 'efficiency'\n"
      "x.yaml:5: memory.bandwith: no such parameter; nearest is 'bandwidth'\n"
      "x.yaml:1: efficiency: missing; allowed is 0.1 .. 2\n"
      "x.yaml:5: memory.bandwidth: missing; allowed is 1 GB/s .. 1 TB/s");
}

TEST_F(Fields, AMissingGroupIsReportedOnce) {
  EXPECT_EQ(load("cores: 4\nefficiency: 1\ntopology: none\n"),
            "x.yaml:1: memory: missing; in it are: bandwidth, latency");
}

TEST_F(Fields, ValuesOfTheWrongShape) {
  EXPECT_EQ(load("cores: [4]\nefficiency: 1\ntopology:\nmemory: 3\n"),
            "x.yaml:1: cores: expected a single value (whole number 1 .. 64); here is a list\n"
            "x.yaml:3: topology: expected a single value (none, ring); here is nothing\n"
            "x.yaml:4: memory: expected a mapping with bandwidth, latency; here is a single value");
  EXPECT_THAT(load("[1, 2]\n"), HasSubstr("x.yaml:1: expected a mapping with cores, "));
}

TEST_F(Fields, AllErrorsComeAtOnce) {
  const std::string message = load(
      "cores: 0\nefficiency: fast\ntopology: star\nmemory: {bandwidth: 1, latency: 2 s}\n"
      "release: {2: 1}\n");
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n') + 1, 6) << message;
  EXPECT_THAT(message, HasSubstr("x.yaml:2: efficiency: 'fast' is not a number"));
  EXPECT_THAT(message, HasSubstr("x.yaml:4: memory.latency: '2 s' is outside 0 s .. 1 ms"));
  EXPECT_THAT(message, HasSubstr("x.yaml:5: release.2: '2' is no release"));
}

TEST_F(Fields, CheckSeesValuesThatWereNotLoaded) {
  EXPECT_NO_THROW(list_.at("efficiency").check());
  chip_.efficiency = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(list_.at("efficiency").check(), UserError);
  chip_.efficiency = 2.5;
  EXPECT_THROW(list_.at("efficiency").check(), UserError);
  chip_.topology = "star";
  EXPECT_THROW(list_.at("topology").check(), UserError);
}

TEST_F(Fields, ChildrenAreTheNamesOfOneLevel) {
  EXPECT_THAT(list_.children(""),
              ElementsAre("cores", "efficiency", "topology", "memory", "price", "release"));
  EXPECT_THAT(list_.children("price"), ElementsAre("on_demand", "reserved"));
}

TEST(Problems, NoProblemThrowsNothing) {
  Problems problems;
  EXPECT_TRUE(problems.collect([] {}));
  EXPECT_NO_THROW(problems.throw_if_any());
}

TEST(Problems, CollectKeepsEveryLine) {
  Problems problems;
  EXPECT_FALSE(problems.collect([] { throw UserError("a\nb"); }));
  problems.add("x.yaml:1", "", "c");
  problems.add("", "path", "d");
  EXPECT_THAT(problems.lines(), ElementsAre("a", "b", "x.yaml:1: c", "path: d"));
}

}  // namespace
struct BoardSpec {
  Watts power{700};
};
void fields(FieldList& list, BoardSpec& spec) {
  list.value("power_watts", spec.power, {Watts(1), Watts(1e5)}, "Limit.");
}

// The name says watts, so a number alone is one of watts; a unit must be one of power.
TEST(FieldsOfPower, WattsAreWrittenWithOrWithoutTheirUnit) {
  BoardSpec spec;
  FieldList list;
  fields(list, spec);
  const auto given = [&](const char* text) {
    list.at("power_watts").assign(text);
    return spec.power.value();
  };
  EXPECT_DOUBLE_EQ(given("500"), 500);
  EXPECT_DOUBLE_EQ(given("450 W"), 450);
  EXPECT_DOUBLE_EQ(given("350W"), 350);
  EXPECT_DOUBLE_EQ(given("0.5 kW"), 500);
  for (const char* wrong : {"500 J", "500 MHz", "500 watts", "0", "0.2 mW"}) {
    EXPECT_THROW(given(wrong), UserError) << wrong;
  }
}

struct Widget {
  enum class Tint { kRed, kBlue };
  bool lit = false;
  std::int64_t grains = 1;
  Tint tint = Tint::kRed;
  std::vector<std::string> owners;
};

void fields(FieldList& list, Widget& widget) {
  list.flag("lit", widget.lit, "Whether it shines.");
  list.count("grains", widget.grains, {0, std::int64_t{1} << 40}, "Grains.");
  list.choice<Widget::Tint>("tint", widget.tint,
                            {{"red", Widget::Tint::kRed}, {"blue", Widget::Tint::kBlue}}, "Tint.");
  list.texts("owners", widget.owners, "Who owns it.");
}

TEST(FieldKinds, FlagsWordsAndListsAreRead) {
  Widget widget;
  const auto load = [&widget](const std::string& text) {
    FieldList list;
    fields(list, widget);
    Problems problems;
    load_fields(parse_document(text, "w.yaml"), list, {}, read_plain_value, problems,
                Missing::kAllowed);
    return problems.lines();
  };
  EXPECT_THAT(load("lit: true\ngrains: 1000000000000\ntint: blue\nowners: [a, b]\n"),
              ElementsAre());
  EXPECT_TRUE(widget.lit);
  EXPECT_EQ(widget.grains, 1'000'000'000'000);
  EXPECT_EQ(widget.tint, Widget::Tint::kBlue);
  EXPECT_THAT(widget.owners, ElementsAre("a", "b"));
  EXPECT_THAT(load("owners: c\n"), ElementsAre());
  EXPECT_THAT(widget.owners, ElementsAre("c")) << "one is a list, too";
  EXPECT_THAT(load("lit: yes\ntint: bleu\nowners: {a: b}\ngrains: [1]\n"),
              ElementsAre(HasSubstr("w.yaml:1: lit: 'yes' is not one of: true, false"),
                          HasSubstr("w.yaml:2: tint: 'bleu' is not one of: red, blue"),
                          "w.yaml:3: owners: expected a list (list of texts); here is a mapping",
                          HasSubstr("grains: expected a single value")));
  FieldList list;
  fields(list, widget);
  EXPECT_EQ(list.at("lit").text(), "true");
  EXPECT_EQ(list.at("tint").text(), "blue");
  EXPECT_EQ(list.at("owners").text(), "c");
  EXPECT_THROW(list.at("owners").assign_list({"d", ""}), UserError);
}

}  // namespace foretell
