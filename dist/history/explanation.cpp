#include "dist/history/explanation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/error.h"

namespace tg {
namespace {

// NaN is shown first: it is what a reader looks for.
float magnitude(float value) { return std::isnan(value) ? std::numeric_limits<float>::infinity() : std::abs(value); }

std::vector<int64_t> index_of(int64_t element, const Shape& shape) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0;) {
    index[static_cast<size_t>(axis)] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

}  // namespace

class Explanation::Shard : public Terms {
 public:
  Shard(Explanation& whole, const Layout& layout) : whole_(whole), layout_(layout) {}
  void term(const std::string& name, View values) override { whole_.add(name, values, layout_); }

 private:
  Explanation& whole_;
  const Layout& layout_;
};

Explanation::Explanation(int coordinates, std::string parameter)
    : coordinates_(static_cast<size_t>(coordinates)), parameter_(std::move(parameter)) {}

std::unique_ptr<Terms> Explanation::of_shard(const Layout& layout) { return std::make_unique<Shard>(*this, layout); }

void Explanation::add(const std::string& name, View values, const Layout& layout) {
  require(values.size == layout.size(), "explain: term '{}' has {} elements, the parameters have {}", name, values.size,
          layout.size());
  auto term = std::find_if(terms_.begin(), terms_.end(), [&](const ExplainedTerm& t) { return t.name == name; });
  if (term == terms_.end()) term = terms_.insert(term, {.name = name, .largest = {}});
  for (const Layout::Entry& entry : layout.entries())
    if (parameter_.empty() || entry.name == parameter_) add(*term, values, entry);
}

void Explanation::add(ExplainedTerm& term, View values, const Layout::Entry& entry) const {
  std::vector<Coordinate>& largest = term.largest;
  for (int64_t i = 0; i < entry.shape.count(); ++i) {
    const float value = values[entry.offset + i];
    term.squares += static_cast<double>(value) * static_cast<double>(value);
    if (largest.size() == coordinates_ && magnitude(value) <= magnitude(largest.back().value)) continue;
    const auto place = std::find_if(largest.begin(), largest.end(),
                                    [&](const Coordinate& c) { return magnitude(c.value) < magnitude(value); });
    largest.insert(place, {entry.name, index_of(i, entry.shape), value});
    if (largest.size() > coordinates_) largest.pop_back();
  }
}

std::string name_of(const Coordinate& coordinate) {
  std::string name = coordinate.parameter;
  for (size_t axis = 0; axis < coordinate.index.size(); ++axis)
    name += fmt::format("{}{}", axis == 0 ? '[' : ',', coordinate.index[axis]);
  return coordinate.index.empty() ? name : name + "]";
}

}  // namespace tg
