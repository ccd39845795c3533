#include "optim/state_map.h"

#include <algorithm>

namespace tg {

namespace {

using Values = std::map<std::string, StateMap::Value>;

void put(Values& values, const std::string& name, StateMap::Value value) {
  const bool is_new = values.emplace(name, std::move(value)).second;
  require(is_new, "state: '{}' is written twice", name);
}

template <class T>
void put_vector(Values& values, const std::string& name, BasicSpan<const T> v) {
  require(v.device.on_host(), "state: '{}' lies on {}; copy it to the host first", name, name_of(v.device));
  put(values, name, std::vector<T>(v.begin(), v.end()));
}

template <class T>
const T& get(const Values& values, const std::string& name, const char* type) {
  const auto found = values.find(name);
  require(found != values.end(), "state: there is no '{}'; it was saved by another rule or version", name);
  const T* value = std::get_if<T>(&found->second);
  require(value != nullptr, "state: '{}' is no {}", name, type);
  return *value;
}

template <class T>
void get_vector(const Values& values, const std::string& name, const char* type, BasicSpan<T> out) {
  const auto& value = get<std::vector<T>>(values, name, type);
  require(static_cast<int64_t>(value.size()) == out.size,
          "state: '{}' has {} elements, {} were expected; it was saved with another model or option", name,
          value.size(), out.size);
  require(out.device.on_host(), "state: '{}' is wanted on {}; read it to the host first", name, name_of(out.device));
  std::copy(value.begin(), value.end(), out.begin());
}

}  // namespace

void StateMap::write(const std::string& name, View values) { put_vector(values_, name, values); }
void StateMap::write(const std::string& name, BasicSpan<const double> values) { put_vector(values_, name, values); }
void StateMap::write(const std::string& name, int64_t value) { put(values_, name, value); }

void StateMap::read(const std::string& name, Span values) const {
  get_vector(values_, name, "vector of float32", values);
}
void StateMap::read(const std::string& name, BasicSpan<double> values) const {
  get_vector(values_, name, "vector of float64", values);
}
int64_t StateMap::read(const std::string& name) const { return get<int64_t>(values_, name, "whole number"); }

}  // namespace tg
