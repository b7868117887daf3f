#include "engine/query/text/text_index_spec.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/bson/number.h"
#include "engine/query/text/text_tokenizer.h"

namespace gridmount::query {
namespace {

constexpr std::string_view kWildcard = "$**";
// The limit of servers for the different terms of one document.
constexpr size_t kTermsMax = 400'000;

std::string joined(const std::string& parent, std::string_view name) {
  return parent.empty() ? std::string(name) : parent + "." + std::string(name);
}

// The occurrences of a term in one string.
struct Occurrences {
  double count = 0;
  double exponent = 0;
  double frequency = 0;  // 1 + 1/2 + 1/4 + ...

  void add() {
    exponent = exponent == 0 ? 1 : exponent * 2;
    count += 1;
    frequency += 1 / exponent;
  }
};

bool equal_without_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace

Result<TextIndexSpec> TextIndexSpec::parse(bson::View options) {
  const auto invalid = [](const char* name) {
    return fail(ErrorCode::kCannotCreateIndex,
                std::string("the option '") + name + "' of a text index is missing or invalid");
  };
  TextIndexSpec spec;
  const std::optional<bson::ValueView> weights = options.find("weights");
  if (!weights || weights->type() != bson::Type::kDocument) return invalid("weights");
  for (const bson::Element weight : weights->as_document()) {
    const std::optional<double> number = weight.value.number();
    if (!number || !(*number > 0)) return invalid("weights");
    if (weight.key == kWildcard) {
      // As on servers, strings without their own weight have the weight 1, whatever the weight of
      // the wildcard is.
      spec.is_wildcard_ = true;
    } else {
      spec.weights_.emplace(weight.key, *number);
    }
  }
  if (!spec.is_wildcard_ && spec.weights_.empty()) return invalid("weights");
  const std::optional<bson::ValueView> language = options.find("default_language");
  if (!language || language->type() != bson::Type::kString) return invalid("default_language");
  spec.default_language_name_ = language->as_string();
  spec.default_language_ = find_text_language(spec.default_language_name_);
  if (spec.default_language_ == nullptr) return invalid("default_language");
  const std::optional<bson::ValueView> field = options.find("language_override");
  if (!field || field->type() != bson::Type::kString) return invalid("language_override");
  spec.language_field_ = field->as_string();
  return spec;
}

// Walks through a document. The path of an array's element is the path of the array.
class TextIndexSpec::Walk {
 public:
  Walk(const TextIndexSpec& spec, const std::function<bool(const Text&)>& visit)
      : spec_(spec), visit_(visit) {}

  Status document(bson::View document, const std::string& path, const TextLanguage& outer) {
    const TextLanguage* language = &outer;
    if (const std::optional<bson::ValueView> own = document.find(spec_.language_field_)) {
      if (own->type() != bson::Type::kString) {
        return fail(ErrorCode{17261},
                    "found language override field in document with non-string type");
      }
      language = find_text_language(own->as_string());
      if (language == nullptr) {
        return fail(ErrorCode{17262},
                    "language override unsupported: " + std::string(own->as_string()));
      }
    }
    for (const bson::Element element : document) {
      if (ended_) return {};
      if (spec_.is_wildcard_ && element.key == spec_.language_field_) continue;
      GM_TRY(value(element.value, joined(path, element.key), *language, false));
    }
    return {};
  }

 private:
  Status value(bson::ValueView value, const std::string& path, const TextLanguage& language,
               bool in_array) {
    switch (value.type()) {
      case bson::Type::kString: {
        const double weight = weight_of(path);
        if (weight != 0) ended_ = !visit_({value.as_string(), language, weight});
        return {};
      }
      case bson::Type::kDocument:
        return leads_on(path) ? document(value.as_document(), path, language) : Status();
      case bson::Type::kArray:
        // Only a wildcard index holds the strings of an array within an array.
        if (in_array && !spec_.is_wildcard_) return {};
        for (const bson::Element element : value.as_document()) {
          if (ended_) return {};
          GM_TRY(this->value(element.value, path, language, true));
        }
        return {};
      default:
        return {};
    }
  }

  double weight_of(const std::string& path) const {
    const auto found = spec_.weights_.find(path);
    if (found != spec_.weights_.end()) return found->second;
    return spec_.is_wildcard_ ? 1 : 0;
  }

  // Returns whether a path below this one may be indexed.
  bool leads_on(const std::string& path) const {
    if (spec_.is_wildcard_) return true;
    const std::string prefix = path + ".";
    const auto found = spec_.weights_.lower_bound(prefix);
    return found != spec_.weights_.end() && found->first.starts_with(prefix);
  }

  const TextIndexSpec& spec_;
  const std::function<bool(const Text&)>& visit_;
  bool ended_ = false;
};

Status TextIndexSpec::visit(bson::View document,
                            const std::function<bool(const Text&)>& visit) const {
  return Walk(*this, visit).document(document, {}, *default_language_);
}

// For one string, the score of a term is
//   weight * frequency * (count / (2 * terms) + 1/2) * adjustment
// The first occurrence of the term adds 1 to `frequency`, and each further occurrence adds half of
// the previous addition. `count` is the number of occurrences, and `terms` is the number of all
// terms of the string. `adjustment` is 1.1 if the string is the term itself, except for the case of
// ASCII letters, and otherwise 1. The scores of several strings are added.
Result<TermScores> TextIndexSpec::scores_of(bson::View document) const {
  TermScores scores;
  std::map<const TextLanguage*, TextTokenizer> tokenizers;
  std::map<std::string, Occurrences, std::less<>> found;
  bool has_too_many = false;
  GM_TRY(visit(document, [&](const Text& text) {
    TextTokenizer& tokenizer = tokenizers.try_emplace(&text.language, text.language).first->second;
    found.clear();
    double count = 0;
    tokenizer.begin(text.text);
    while (const std::optional<std::string_view> term = tokenizer.next()) {
      auto at = found.find(*term);
      if (at == found.end()) at = found.emplace(*term, Occurrences()).first;
      at->second.add();
      count += 1;
      has_too_many = found.size() > kTermsMax;
      if (has_too_many) return false;
    }
    for (const auto& [term, occurrences] : found) {
      const double share = 0.5 * occurrences.count / count + 0.5;
      const double adjustment = equal_without_case(text.text, term) ? 1.1 : 1;
      scores[term] += text.weight * occurrences.frequency * share * adjustment;
    }
    has_too_many = scores.size() > kTermsMax;
    return !has_too_many;
  }));
  if (has_too_many) {
    return fail(ErrorCode{16732},
                "too many unique keys for a single document to have a text index, max is " +
                    std::to_string(kTermsMax));
  }
  return scores;
}

bool TextIndexSpec::depends_on(std::string_view path) const {
  if (is_wildcard_) return true;
  // The language of a document at any depth may change.
  for (std::string_view rest = path;;) {
    const size_t end = std::min(rest.find('.'), rest.size());
    if (rest.substr(0, end) == language_field_) return true;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  const std::string below = std::string(path) + ".";
  for (const auto& [indexed, weight] : weights_) {
    if (indexed == path || indexed.starts_with(below) ||
        (path.starts_with(indexed) && path[indexed.size()] == '.')) {
      return true;
    }
  }
  return false;
}

}  // namespace gridmount::query
