#include "workloads/traffic/trace_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  try {
    read_trace(folder.write("t.csv", text));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TraceReader, ReadsTablesAndJsonLines) {
  const TemporaryFolder folder;
  const auto table =
      read_trace(folder.write("a.csv", "arrival_s,input_len,output_len\n5,10,2\n5.5,20,3\n"));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_DOUBLE_EQ(table[0].arrival_s, 0);
  EXPECT_DOUBLE_EQ(table[1].arrival_s, 0.5);
  EXPECT_EQ(table[1].input_len, 20);
  EXPECT_EQ(table[1].output_len, 3);
  const auto lines = read_trace(folder.write(
      "b.jsonl", "{\"arrival_time\": 7.0, \"input_toks\": 4, \"output_toks\": 1, \"x\": 0}\n"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].input_len, 4);
  const auto sessions = read_trace(folder.write(
      "c.csv", "offset_s,prompt_tokens,output_tokens,session\n0,1,1,b\n1,1,1,a\n2,1,1,b\n"));
  EXPECT_EQ(sessions[0].session, sessions[2].session);
  EXPECT_NE(sessions[0].session, sessions[1].session);
}

TEST(TraceReader, SaysWhatIsWrongAndWhere) {
  const std::string head = "arrival_s,input_len,output_len\n";
  EXPECT_THAT(refusal(head + "-1,2,3\n"), HasSubstr("t.csv:2: arrival -1"));
  EXPECT_THAT(refusal(head + "2,2,3\n1,2,3\n"), HasSubstr("t.csv:3: arrival 1 is before"));
  EXPECT_THAT(refusal(head + "0,0,3\n"), HasSubstr("t.csv:2: input_len 0"));
  EXPECT_THAT(refusal(head + "0,1,1000000000\n"), HasSubstr("output_len 1000000000"));
  EXPECT_THAT(refusal(head + "0,1.5,3\n"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(head + "now,1,3\n"), HasSubstr("'now': is no number"));
  EXPECT_THAT(refusal(head), HasSubstr("holds no requests"));
  EXPECT_THAT(refusal("arrival_s,input_len\n0,1\n"), HasSubstr("no column output_len"));
  EXPECT_THAT(refusal("{\"arrival_time\": 1}\n"), HasSubstr("t.csv:1: must be a JSON object"));
  EXPECT_THAT(refusal("{\n"), HasSubstr("t.csv:1: must be a JSON object"));
}

TEST(TraceReader, ReadsPublishedTraces) {
  const TemporaryFolder folder;
  const auto azure = read_trace(folder.write(
      "a.csv",
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 23:59:59.9799600,4808,10\n2023-11-17 00:00:00.4799600+00:00,31,8\n"));
  ASSERT_EQ(azure.size(), 2U);
  EXPECT_NEAR(azure[1].arrival_s, 0.5, 1e-6);
  EXPECT_EQ(azure[0].input_len, 4808);
  const auto burst = read_trace(
      folder.write("b.csv",
                   "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                   "5,M,472,18,490,Conversation log\n45,M,1087,230,1317,Conversation log\n"));
  EXPECT_DOUBLE_EQ(burst.at(1).arrival_s, 40);
  EXPECT_EQ(burst[1].output_len, 230);
  const auto mooncake = read_trace(folder.write(
      "m.jsonl",
      R"({"timestamp": 1000, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]})"
      "\n"
      R"({"timestamp": 1500, "input_length": 1030, "output_length": 5, "hash_ids": [0, 1, 9]})"
      "\n"));
  EXPECT_DOUBLE_EQ(mooncake.at(1).arrival_s, 0.5);
  EXPECT_EQ(mooncake[1].opening.at(0).tokens, 1024);
  const auto bailian = read_trace(folder.write(
      "q.jsonl",
      R"({"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.5, "input_length": 40, "output_length": 5, "turn": 1, "hash_ids": [1, 2, 3]})"
      "\n"
      R"({"chat_id": 160, "parent_chat_id": 159, "timestamp": 63, "input_length": 20, "output_length": 8, "turn": 2, "hash_ids": [1, 7]})"
      "\n"));
  EXPECT_DOUBLE_EQ(bailian.at(1).arrival_s, 1.5);
  EXPECT_EQ(bailian[0].opening.at(0).tokens, 16);
}

TEST(TraceReader, SaysWhatIsWrongWithPublishedTraces) {
  const std::string line = R"({"timestamp": 0, "input_length": 40, "output_length": 5)";
  EXPECT_THAT(refusal("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-40 1:2:3,4,5\n"),
              HasSubstr("t.csv:2: TIMESTAMP '2023-13-40 1:2:3': must be seconds or a date"));
  EXPECT_THAT(refusal("Timestamp,Request tokens,Response tokens\n1,5,0\n"),
              HasSubstr("leave requests without an answer out"));
  EXPECT_THAT(refusal(line + R"(, "hash_ids": "none"})"), HasSubstr("list of whole numbers"));
  EXPECT_THAT(refusal(line + R"(, "hash_ids": [1, 2, 3]})" + "\n" + line + "}\n"),
              HasSubstr("some requests have none"));
  EXPECT_THAT(refusal(line + R"(, "hash_ids": [1, 2, 3]})" + "\n" + line + R"(, "hash_ids": [1]})"),
              HasSubstr("no power of two"));
  EXPECT_THAT(refusal(line + R"(, "prefix": 1, "prefix_toks": 4, "hash_ids": [1]})"),
              HasSubstr("leave one out"));
}

TEST(TraceReader, ReadsWhatRequestsHaveInCommon) {
  const TemporaryFolder folder;
  const auto csv = read_trace(folder.write(
      "p.csv",
      "arrival_s,input_len,output_len,prefix,prefix_len\n0,9,1,a,4\n1,9,1,,\n2,9,1,a,5\n"));
  ASSERT_EQ(csv[0].opening.size(), 1U);
  EXPECT_EQ(csv[0].opening[0].chain, csv[2].opening[0].chain);
  EXPECT_EQ(csv[0].opening[0].tokens, 4);
  EXPECT_TRUE(csv[1].opening.empty());
  const auto json = read_trace(folder.write(
      "p.jsonl",
      R"({"arrival_time": 0, "input_toks": 9, "output_toks": 1, "session": 7, "prefix": "x", "prefix_toks": 3})"
      "\n"
      R"({"arrival_time": 1, "input_toks": 9, "output_toks": 1, "session": 7})"
      "\n"));
  EXPECT_EQ(json[0].session, json[1].session);
  EXPECT_EQ(json[0].opening.at(0).tokens, 3);
  EXPECT_TRUE(json[1].opening.empty());
  const auto problem = [&](const char* text) {
    try {
      read_trace(folder.write("w.csv", text));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(problem("arrival_s,input_len,output_len,prefix\n0,1,1,a\n"),
              HasSubstr("belong together"));
  EXPECT_THAT(problem("arrival_s,input_len,output_len,prefix,prefix_len\n0,5,1,a,6\n"),
              HasSubstr("w.csv:2: prefix_len 6 is more than the prompt has, 5"));
  EXPECT_THAT(problem("arrival_s,input_len,output_len,prefix,prefix_len\n0,5,1,a,0\n"),
              HasSubstr("prefix_len 0"));
}

}  // namespace
}  // namespace foretell
