// What is wrong with a timeline by the Chrome trace-event format, and by what readers of it need.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace foretell {

class TraceCheck {
 public:
  // Throws what the parser throws when `text` is no JSON.
  explicit TraceCheck(const std::string& text) : trace_(nlohmann::json::parse(text)) {
    expect(trace_.at("displayTimeUnit") == "ns", "another unit", trace_.at("displayTimeUnit"));
    for (const Json& event : events()) read(event);
    for (const auto& [track, slices] : slices_) check_track(track, slices);
    for (const auto& [key, arrow] : arrows_) check_arrow(key, arrow);
    for (const auto& [key, points] : counters_) check_counter(key, points);
  }

  const nlohmann::json& events() const { return trace_.at("traceEvents"); }
  const std::vector<std::string>& faults() const { return faults_; }
  std::size_t arrows() const { return arrows_.size(); }

  // Names of processes and of threads with slices.
  std::set<std::string> processes() const { return values(processes_); }
  std::set<std::string> threads() const {
    std::set<std::string> names;
    for (const auto& [track, slices] : slices_) names.insert(threads_.at(track));
    return names;
  }

  // The largest sum over the series of the counters of this name; 0 without any.
  double highest(const std::string& counter) const {
    double most = 0;
    for (const auto& [key, points] : counters_) {
      if (key.second != counter) continue;
      for (const auto& [time, sum] : points) most = std::max(most, sum);
    }
    return most;
  }

  // Rate times time, summed: of a counter in GB/s, bytes.
  double integral(const std::string& counter) const {
    constexpr double kBytesPerPicosecond = 1e-3;  // of 1 GB/s
    double sum = 0;
    for (const auto& [key, points] : counters_) {
      if (key.second != counter) continue;
      for (std::size_t i = 1; i < points.size(); ++i)
        sum += points[i - 1].second * kBytesPerPicosecond *
               static_cast<double>(points[i].first - points[i - 1].first);
    }
    return sum;
  }

 private:
  using Json = nlohmann::json;
  using Time = std::int64_t;  // ps
  using Track = std::pair<int, int>;
  struct Place {
    Track track;
    Time time;
  };
  struct Arrow {
    std::vector<Place> starts;
    std::vector<Place> ends;
  };

  static std::set<std::string> values(const std::map<int, std::string>& map) {
    std::set<std::string> names;
    for (const auto& [key, name] : map) names.insert(name);
    return names;
  }

  void expect(bool holds, const std::string& what, const Json& event) {
    if (!holds) faults_.push_back(what + ": " + event.dump().substr(0, 200));
  }

  static Time time_of(const Json& event, const char* field) {
    return std::llround(event.at(field).get<double>() * 1e6);
  }

  void read(const Json& event) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid");
    expect(process > 0, "process 0 is the idle one", event);
    expect(!event.at("name").get<std::string>().empty(), "no name", event);
    if (phase == "M") return read_name(event);
    expect(time_of(event, "ts") >= 0, "before the beginning", event);
    if (phase == "C") return read_counter(event);
    const Track track{process, event.at("tid")};
    expect(track.second > 0, "thread 0 is the idle one", event);
    expect(event.at("cat").is_string(), "no category", event);
    if (phase == "X") {
      const Time begin = time_of(event, "ts");
      expect(event.at("dur").get<double>() >= 0, "a negative duration", event);
      expect(event.at("args").is_object(), "no arguments", event);
      slices_[track].emplace_back(begin, begin + time_of(event, "dur"));
    } else if (phase == "s" || phase == "f") {
      const std::string key =
          fmt::format("{}/{}/{}", event.at("cat").get<std::string>(),
                      event.at("name").get<std::string>(), event.at("id").dump());
      Arrow& arrow = arrows_[key];
      (phase == "s" ? arrow.starts : arrow.ends).push_back({track, time_of(event, "ts")});
      if (phase == "f")
        expect(event.contains("bp") && event.at("bp") == "e", "not bound to its slice", event);
    } else {
      expect(false, "an unknown phase", event);
    }
  }

  void read_name(const Json& event) {
    const std::string what = event.at("name");
    const int process = event.at("pid");
    if (what == "process_name") {
      expect(processes_.emplace(process, event.at("args").at("name")).second, "twice", event);
    } else if (what == "thread_name") {
      const Track track{process, event.at("tid")};
      expect(threads_.emplace(track, event.at("args").at("name")).second, "twice", event);
    } else {
      expect(what == "process_sort_index" || what == "thread_sort_index", "unknown", event);
      expect(event.at("args").at("sort_index").is_number(), "no number", event);
    }
  }

  void read_counter(const Json& event) {
    double sum = 0;
    for (const auto& [series, value] : event.at("args").items()) {
      expect(value.is_number() && value.get<double>() >= 0, "a negative counter", event);
      sum += value.get<double>();
    }
    counters_[{event.at("pid"), event.at("name")}].emplace_back(time_of(event, "ts"), sum);
  }

  void check_track(const Track& track, const std::vector<std::pair<Time, Time>>& slices) {
    const Json where = {{"pid", track.first}, {"tid", track.second}};
    expect(processes_.count(track.first) == 1, "a process without name", where);
    expect(threads_.count(track) == 1, "a thread without name", where);
    for (std::size_t i = 1; i < slices.size(); ++i)
      expect(slices[i].first >= slices[i - 1].second, "slices overlap", where);
  }

  bool is_in_slice(const Place& place) const {
    const auto track = slices_.find(place.track);
    if (track == slices_.end()) return false;
    const auto after = std::upper_bound(
        track->second.begin(), track->second.end(), place.time,
        [](Time time, const std::pair<Time, Time>& slice) { return time < slice.first; });
    return after != track->second.begin() && place.time <= std::prev(after)->second;
  }

  void check_arrow(const std::string& key, const Arrow& arrow) {
    const Json where = key;
    expect(arrow.starts.size() == 1 && arrow.ends.size() == 1, "no pair", where);
    if (arrow.starts.size() != 1 || arrow.ends.size() != 1) return;
    expect(arrow.starts[0].time <= arrow.ends[0].time, "against time", where);
    expect(is_in_slice(arrow.starts[0]), "starts at no slice", where);
    expect(is_in_slice(arrow.ends[0]), "ends at no slice", where);
  }

  void check_counter(const std::pair<int, std::string>& key,
                     const std::vector<std::pair<Time, double>>& points) {
    const Json where = {{"pid", key.first}, {"name", key.second}};
    expect(processes_.count(key.first) == 1, "a process without name", where);
    for (std::size_t i = 1; i < points.size(); ++i)
      expect(points[i].first > points[i - 1].first, "a counter that goes back in time", where);
    expect(points.back().second == 0, "a counter that does not end at zero", where);
  }

  Json trace_;
  std::vector<std::string> faults_;
  std::map<int, std::string> processes_;
  std::map<Track, std::string> threads_;
  std::map<Track, std::vector<std::pair<Time, Time>>> slices_;
  std::map<std::string, Arrow> arrows_;
  std::map<std::pair<int, std::string>, std::vector<std::pair<Time, double>>> counters_;
};

}  // namespace foretell
