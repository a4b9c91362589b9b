// The search itself. A library of its own that is loaded when a study searches: the tables of pagmo
// take longer to set up than most commands take.
#include "model/app/study/search/nsga2_search.hpp"

#include <algorithm>
#include <map>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <random>
#include <utility>

namespace foretell {
namespace {

constexpr double kCannot = 1e30;          // objectives of a point that cannot be had
constexpr std::size_t kLargest = 60;      // population; a multiple of 4, as the algorithm wants
constexpr std::size_t kSmallest = 8;      // likewise
constexpr std::size_t kGenerations = 12;  // that the evaluations are to suffice for
constexpr int kIdle = 30;                 // generations without a new point end the search

using pagmo::vector_double;

// What has been evaluated; asks for the rest in batches, so that they can be done in parallel.
class Evaluations {
 public:
  explicit Evaluations(const FrontSearch& search) : search_(search) {}

  bool used_up() const { return ended_ || known_.size() >= search_.evaluations; }
  std::size_t count() const { return known_.size(); }

  // Beyond the evaluations that are left, points count as those that cannot be had.
  std::vector<vector_double> of(const std::vector<GridPoint>& points) {
    std::vector<GridPoint> fresh;
    for (const GridPoint& point : points) {
      const bool asked = std::find(fresh.begin(), fresh.end(), point) != fresh.end();
      if (asked || known_.count(point) != 0 || ended_) continue;
      if (known_.size() + fresh.size() < search_.evaluations) fresh.push_back(point);
    }
    if (!fresh.empty()) {
      const auto answers = search_.evaluate(fresh);
      ended_ = answers.size() < fresh.size();
      for (std::size_t i = 0; i < answers.size(); ++i) known_[fresh[i]] = answers[i];
    }
    std::vector<vector_double> result;
    for (const GridPoint& point : points) {
      const auto found = known_.find(point);
      const bool had = found != known_.end() && !found->second.empty();
      result.push_back(had ? found->second : vector_double(search_.objectives, kCannot));
    }
    return result;
  }

 private:
  const FrontSearch& search_;
  std::map<GridPoint, std::vector<double>> known_;
  bool ended_ = false;
};

GridPoint to_grid(const double* values, std::size_t size) {
  GridPoint point(size);
  for (std::size_t i = 0; i < size; ++i) point[i] = static_cast<std::uint64_t>(values[i]);
  return point;
}

// The grid as pagmo sees it.
struct GridProblem {
  Evaluations* evaluations = nullptr;
  std::vector<std::uint64_t> sizes;
  std::size_t objectives = 1;

  vector_double fitness(const vector_double& values) const {
    return evaluations->of({to_grid(values.data(), values.size())}).front();
  }
  std::pair<vector_double, vector_double> get_bounds() const {
    vector_double upper;
    for (const std::uint64_t size : sizes) upper.push_back(static_cast<double>(size - 1));
    return {vector_double(sizes.size(), 0), upper};
  }
  vector_double::size_type get_nobj() const { return objectives; }
  vector_double::size_type get_nix() const { return sizes.size(); }
};

// A generation at once.
struct GridBatch {
  Evaluations* evaluations = nullptr;

  vector_double operator()(const pagmo::problem& problem, const vector_double& values) const {
    const std::size_t size = problem.get_nx();
    std::vector<GridPoint> points;
    for (std::size_t at = 0; at < values.size(); at += size)
      points.push_back(to_grid(values.data() + at, size));
    vector_double result;
    for (const vector_double& objectives : evaluations->of(points))
      result.insert(result.end(), objectives.begin(), objectives.end());
    return result;
  }
};

std::size_t population_size(std::size_t evaluations) {
  const std::size_t size = evaluations / kGenerations / 4 * 4;
  return std::clamp(size, kSmallest, kLargest);
}

// Corners of the grid, where fronts end, and random points.
std::vector<GridPoint> first_points(const FrontSearch& search, std::size_t count) {
  std::mt19937_64 random(search.seed);
  std::vector<GridPoint> points;
  GridPoint low(search.sizes.size(), 0);
  GridPoint high;
  for (const std::uint64_t size : search.sizes) high.push_back(size - 1);
  points = {low, high};
  while (points.size() < count) {
    GridPoint point;
    for (const std::uint64_t size : search.sizes) point.push_back(random() % size);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

void search_with_nsga2(const FrontSearch& search) {
  Evaluations evaluations(search);
  const std::size_t size = population_size(search.evaluations);
  const pagmo::problem problem(GridProblem{&evaluations, search.sizes, search.objectives});
  const auto seed = static_cast<unsigned>(search.seed);
  pagmo::population population(problem, 0U, seed);
  const std::vector<GridPoint> points = first_points(search, size);
  const std::vector<vector_double> objectives = evaluations.of(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    population.push_back(vector_double(points[i].begin(), points[i].end()), objectives[i]);
  }
  pagmo::nsga2 nsga2(1U, 0.95, 10., 0.1, 50., seed);
  nsga2.set_bfe(pagmo::bfe(GridBatch{&evaluations}));
  const pagmo::algorithm algorithm(nsga2);
  for (int idle = 0; idle < kIdle && !evaluations.used_up();) {
    const std::size_t before = evaluations.count();
    population = algorithm.evolve(population);
    idle = evaluations.count() == before ? idle + 1 : 0;
  }
}

}  // namespace foretell
