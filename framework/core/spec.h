#pragma once
// The grammar by which rules, models and codecs are named: `name` or `name:option=value,option=value`.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

struct OptionInfo {
  std::string name;           // "weight-decay"
  std::string default_value;  // as it would be typed
  std::string help;           // one line, with the unit or range
};

// What a registry knows of a name: enough to check a spec, to print help and to fill in defaults.
struct SpecInfo {
  std::string name;
  std::string summary;  // one line
  std::vector<OptionInfo> options;
};

// A parsed spec with every option of the name present (given or default).
class Spec {
 public:
  // Throws Error that prints the nearest right name or option when one is misspelt. `kind` ("rule", "model") is for the
  // message.
  static Spec parse(std::string_view text, const std::vector<SpecInfo>& known, const char* kind);

  const std::string& name() const { return name_; }
  // Typed or set, rather than left out.
  bool given(const std::string& option) const { return given_.count(option) != 0; }
  bool has(const std::string& option) const { return values_.count(option) != 0; }
  // Sets an option from outside the text (a command-line flag); throws Error if the name has no such option.
  void set(const std::string& option, const std::string& value);

  // Throw Error naming spec, option and text when it is not such a value or lies outside [least, most].
  double number(const std::string& option, double least, double most) const;
  int64_t integer(const std::string& option, int64_t least, int64_t most) const;
  bool flag(const std::string& option) const;  // true or false
  const std::string& text(const std::string& option) const;
  // The option's value must be one of `choices`.
  const std::string& choice(const std::string& option, const std::vector<std::string>& choices) const;

  std::string str() const;  // canonical: name and the options that differ from their defaults, by name

 private:
  [[noreturn]] void refuse(const std::string& option, const std::string& expected) const;

  std::string kind_, name_;
  std::map<std::string, std::string> values_, defaults_;
  std::set<std::string> given_;
};

// The candidate with the least edit distance to `word`, or "" if none is near. Case and '_' for '-' do not count, and a
// word that candidates begin with is near to the shortest of them.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// How a message about an unknown `word` ends: "; did you mean x? " or ". ", then `list_title` and all candidates.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates, std::string_view list_title);

}  // namespace tg
