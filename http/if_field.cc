#include "http/if_field.h"

#include <algorithm>
#include <utility>

#include "http/entity_tag.h"
#include "http/request.h"
#include "http/site_error.h"

namespace gridmount::http {

namespace {

tl::unexpected<Error> malformed() {
  return fail(ErrorCode::kBadValue, "the field If is malformed");
}

class IfParser {
 public:
  explicit IfParser(std::string_view text) : rest_(trimmed(text)) {}

  Result<std::vector<IfList>> parse() {
    std::vector<IfList> lists;
    std::optional<std::string> resource;
    if (rest_.empty()) return malformed();
    while (!rest_.empty()) {
      if (rest_.starts_with('<')) {
        // A field has either lists with a resource or lists without one, but not both.
        if (!lists.empty() && !resource) return malformed();
        GM_ASSIGN(resource, enclosed('<', '>'));
        if (!rest_.starts_with('(')) return malformed();
      }
      GM_ASSIGN(IfList list, parse_list());
      list.resource = resource;
      lists.push_back(std::move(list));
    }
    return lists;
  }

 private:
  Result<IfList> parse_list() {
    if (!skip("(")) return malformed();
    IfList list;
    while (!skip(")")) {
      if (++conditions_ > kIfConditionsMax) {
        return fail(kXmlTooLarge, "the field If has too many conditions");
      }
      IfCondition condition;
      condition.is_negated = equals_ignoring_case(rest_.substr(0, 3), "not");
      if (condition.is_negated) skip(rest_.substr(0, 3));
      condition.is_tag = rest_.starts_with('[');
      if (condition.is_tag) {
        GM_ASSIGN(condition.value, enclosed('[', ']'));
      } else {
        GM_ASSIGN(condition.value, enclosed('<', '>'));
      }
      list.conditions.push_back(std::move(condition));
    }
    if (list.conditions.empty()) return malformed();
    return list;
  }

  // Returns the text up to `close`, and continues behind it.
  Result<std::string> enclosed(char open, char close) {
    if (!rest_.starts_with(open)) return malformed();
    const size_t end = rest_.find(close);
    if (end == std::string_view::npos) return malformed();
    std::string text(rest_.substr(1, end - 1));
    if (text.empty()) return malformed();
    skip(rest_.substr(0, end + 1));
    return text;
  }

  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    rest_ = trimmed(rest_);
    return true;
  }

  std::string_view rest_;
  size_t conditions_ = 0;
};

bool is_met(const IfCondition& condition, const ResourceState& state) {
  if (condition.is_tag) {
    return state.tag && condition.value != "*" &&
           has_tag(condition.value, *state.tag, TagComparison::kStrong);
  }
  return std::find(state.tokens.begin(), state.tokens.end(), condition.value) != state.tokens.end();
}

}  // namespace

Result<std::vector<IfList>> parse_if(std::string_view field) {
  return IfParser(field).parse();
}

std::vector<std::string> tokens_in(const std::vector<IfList>& lists) {
  std::vector<std::string> tokens;
  for (const IfList& list : lists) {
    for (const IfCondition& condition : list.conditions) {
      if (!condition.is_tag) tokens.push_back(condition.value);
    }
  }
  return tokens;
}

Result<bool> holds(const std::vector<IfList>& lists, const StateOf& state_of) {
  for (const IfList& list : lists) {
    GM_ASSIGN(const ResourceState state, state_of(list.resource));
    const bool all_hold = std::all_of(
        list.conditions.begin(), list.conditions.end(),
        [&](const IfCondition& each) { return is_met(each, state) != each.is_negated; });
    if (all_hold) return true;
  }
  return false;
}

}  // namespace gridmount::http
