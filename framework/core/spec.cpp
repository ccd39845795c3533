#include "framework/core/spec.h"

#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/core/from_text.h"

namespace tg {

namespace {

constexpr std::size_t kLongestWord = 64;  // longer words are near to nothing

std::string simplified(std::string_view word) {
  std::string s(word);
  for (char& c : s) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return s;
}

// Letters to insert, remove, replace or swap with their neighbour (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

bool same_value(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  return a == b || (from_text(a, x) && from_text(b, y) && x == y);
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list.empty() ? "none" : list;
}

template <class T>
std::vector<std::string> names_of(const std::vector<T>& infos) {
  std::vector<std::string> names;
  for (const T& info : infos) names.push_back(info.name);
  return names;
}

std::vector<std::string> keys_of(const std::map<std::string, std::string>& values) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values) keys.push_back(key);
  return keys;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string typed = simplified(word);
  std::string best, longer;
  bool whole_part = false;  // `longer` is the word and more after a '-', as dc-asgd-c is to dc-asgd
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const std::string simple = simplified(candidate);
    const std::size_t distance = edit_distance(typed, simple);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
    if (simple.rfind(typed, 0) == 0 && (longer.empty() || candidate.size() < longer.size())) {
      longer = candidate;
      whole_part = simple[typed.size()] == '-';
    }
  }
  return longer.empty() || (best_distance <= 1 && !whole_part) ? best : longer;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates, std::string_view list_title) {
  const std::string near = nearest(word, candidates);
  return (near.empty() ? ". " : "; did you mean " + near + "? ") + std::string(list_title) + joined(candidates);
}

Spec Spec::parse(std::string_view text, const std::vector<SpecInfo>& known, const char* kind) {
  const std::size_t colon = text.find(':');
  Spec spec;
  spec.kind_ = kind;
  spec.name_ = text.substr(0, colon);
  const auto info = std::find_if(known.begin(), known.end(), [&](const SpecInfo& k) { return k.name == spec.name_; });
  if (info == known.end())
    fail("{}: there is no '{}'{}", kind, spec.name_, suggestion(spec.name_, names_of(known), "Known: "));
  for (const OptionInfo& option : info->options) spec.defaults_[option.name] = option.default_value;
  spec.values_ = spec.defaults_;
  if (colon == std::string_view::npos) return spec;

  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);

    const std::size_t equals = part.find('=');
    require(equals != std::string_view::npos && equals + 1 < part.size(),
            "{} '{}': expected {}:option=value,option=value but found '{}' in '{}'; its options are: {}", kind,
            spec.name_, spec.name_, part, text, joined(keys_of(spec.defaults_)));
    const std::string option(part.substr(0, equals));
    require(!spec.given(option), "{} '{}': option {} is given twice in '{}'", kind, spec.name_, option, text);
    spec.set(option, std::string(part.substr(equals + 1)));
  }
  return spec;
}

void Spec::set(const std::string& option, const std::string& value) {
  if (!has(option))
    fail("{} '{}': it has no option '{}'{}", kind_, name_, option,
         suggestion(option, keys_of(defaults_), "Its options are: "));
  values_[option] = value;
  given_.insert(option);
}

void Spec::refuse(const std::string& option, const std::string& expected) const {
  fail("{} '{}': {}={} is not {}", kind_, name_, option, text(option), expected);
}

const std::string& Spec::text(const std::string& option) const {
  const auto found = values_.find(option);
  require(found != values_.end(), "{} '{}': it has no option '{}'", kind_, name_, option);
  return found->second;
}

double Spec::number(const std::string& option, double least, double most) const {
  double value = 0;
  if (!from_text(text(option), value) || !(value >= least && value <= most))
    refuse(option, fmt::format("a number from {} to {}", least, most));
  return value;
}

int64_t Spec::integer(const std::string& option, int64_t least, int64_t most) const {
  int64_t value = 0;
  if (!from_text(text(option), value) || value < least || value > most)
    refuse(option, fmt::format("a whole number from {} to {}", least, most));
  return value;
}

bool Spec::flag(const std::string& option) const {
  const std::string& value = text(option);
  if (value != "true" && value != "false") refuse(option, "true or false");
  return value == "true";
}

const std::string& Spec::choice(const std::string& option, const std::vector<std::string>& choices) const {
  const std::string& value = text(option);
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    refuse(option, "one of these" + suggestion(value, choices, "They are: "));
  return value;
}

std::string Spec::str() const {
  std::string s = name_;
  char separator = ':';
  for (const auto& [option, value] : values_) {
    if (same_value(value, defaults_.at(option))) continue;
    s += fmt::format("{}{}={}", separator, option, value);
    separator = ',';
  }
  return s;
}

}  // namespace tg
