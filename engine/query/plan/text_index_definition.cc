#include "engine/query/plan/text_index_definition.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/bson/builder.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/number.h"
#include "engine/bson/text.h"
#include "engine/query/text/text_index_spec.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr int64_t kWeightMax = 100'000;  // exclusive
constexpr std::string_view kDefaultLanguage = "english";
constexpr std::string_view kDefaultLanguageField = "language";
constexpr int32_t kVersion = 3;

class Completion {
 public:
  explicit Completion(IndexDefinition& index) : index_(index) {}

  Status run() {
    GM_TRY(read_keys());
    GM_TRY(read_weights());
    GM_TRY(read_options());
    if (index_.own_collation() != nullptr) {
      return refuse("Index type 'text' does not support collation: " +
                    bson::to_text(*index_.own_collation()));
    }
    if (index_.unique) return refuse("a unique text index is not supported");
    if (index_.expire_after_seconds)
      return refuse("a text index with expireAfterSeconds is not supported");
    bson::Builder keys;
    for (const bson::Element& part : before_) keys.append(part.key, part.value);
    keys.append(kTextTermField, kTextIndexKind).append(kTextScoreField, int32_t{1});
    for (const bson::Element& part : after_) keys.append(part.key, part.value);
    bson::Document complete = std::move(keys).finish();
    bson::Builder options;
    bson::Builder& weights = options.open_document("weights");
    for (const auto& [path, weight] : weights_) weights.append(path, weight);
    weights.close();
    options.append("default_language", language_).append("language_override", language_field_);
    options.append("textIndexVersion", kVersion);
    for (const bson::Element option : index_.other_options.view()) {
      if (!is_of_text(option.key)) options.append(option.key, option.value);
    }
    bson::Document others = std::move(options).finish();
    index_.keys = std::move(complete);
    index_.other_options = std::move(others);
    return {};
  }

 private:
  tl::unexpected<Error> refuse(const std::string& why) const {
    return fail(ErrorCode::kCannotCreateIndex,
                "Error in specification " + bson::to_text(index_.keys.view()) + " of the index '" +
                    index_.name + "' :: caused by :: " + why);
  }

  static bool is_of_text(std::string_view option) {
    return option == "weights" || option == "default_language" || option == "language_override" ||
           option == "textIndexVersion";
  }

  Status read_keys() {
    bool ended = false;  // a field without texts has followed the fields with texts
    bool begun = false;
    const bson::View keys = index_.keys.view();
    for (auto at = keys.begin(); at != keys.end(); ++at) {
      const bson::Element part = *at;
      if (is_text_part(part)) {
        if (ended) return refuse("'text' fields in index must all be adjacent");
        begun = true;
        if (part.key != kTextTermField) {
          if (is_complete_) return refuse("'text' fields in index must all be adjacent");
          GM_TRY(
              check_path(part.key, "Index keys cannot contain an empty field.",
                         "Index key contains an illegal field name: field name starts with '$'."));
          weights_.emplace(part.key, 1);
          continue;
        }
        if (!weights_.empty() || is_complete_) {
          return refuse("'text' fields in index must all be adjacent");
        }
        is_complete_ = true;
        ++at;
        if (at == keys.end() || (*at).key != kTextScoreField) {
          return refuse("expected _ftsx after _fts");
        }
        continue;
      }
      ended = begun;
      if (part.value.type() == Type::kString) {
        return refuse("Can't use more than one index plugin for a single index.");
      }
      const std::optional<int64_t> direction = part.value.integral();
      if (direction != 1 && direction != -1) {
        return refuse("expected value 1 or -1 for non-text key in compound index");
      }
      (begun ? after_ : before_).push_back(part);
    }
    return {};
  }

  Status check_path(std::string_view path, const char* empty, const char* dollar) const {
    if (path == "$**") return {};
    const bson::Path steps(path);
    for (const std::string& step : steps.parts()) {
      if (step.empty()) return refuse(empty);
      if (step[0] == '$') return refuse(dollar);
    }
    return {};
  }

  Status read_weights() {
    if (const std::optional<ValueView> given = index_.other_options.view().find("weights")) {
      for (const bson::Element weight : given->as_document()) {
        if (weight.key.empty()) return refuse("weight cannot be on an empty field");
        GM_TRY(check_path(weight.key, "weight cannot have empty path component",
                          "weight cannot have path component with $ prefix"));
        if (!weight.value.is_number()) return refuse("weight for text index needs numeric type");
        const int64_t number = bson::clamped_integer(weight.value).value_or(0);
        if (number <= 0 || number >= kWeightMax) {
          return refuse(
              "text index weight must be in the exclusive interval (0,100000) but found: " +
              std::to_string(std::min<int64_t>(number, std::numeric_limits<int32_t>::max())));
        }
        weights_[std::string(weight.key)] = static_cast<int32_t>(number);
      }
    }
    if (weights_.empty()) {
      return refuse("text index option 'weights' must specify fields or the wildcard");
    }
    return {};
  }

  Status read_options() {
    const bson::View given = index_.other_options.view();
    if (const std::optional<ValueView> language = given.find("default_language")) {
      language_ = language->as_string();
      if (find_text_language(language_) == nullptr) return refuse("default_language is not valid");
    }
    if (const std::optional<ValueView> field = given.find("language_override")) {
      language_field_ = field->as_string();
      if (language_field_.empty() || language_field_[0] == '$' ||
          language_field_.find('.') != std::string::npos) {
        return refuse("language_override is not valid");
      }
    }
    if (const std::optional<ValueView> version = given.find("textIndexVersion")) {
      const std::optional<int64_t> number = version->integral();
      if (number == 1 || number == 2) {
        return refuse("textIndexVersion " + std::to_string(*number) +
                      " is not supported; make the index with version 3");
      }
      if (number != kVersion) {
        return refuse("bad textIndexVersion: " + bson::to_text(*version));
      }
    }
    return {};
  }

  IndexDefinition& index_;
  bool is_complete_ = false;  // the key already has _fts
  std::vector<bson::Element> before_;
  std::vector<bson::Element> after_;
  std::map<std::string, int32_t> weights_;
  std::string language_{kDefaultLanguage};
  std::string language_field_{kDefaultLanguageField};
};

}  // namespace

bool is_text_part(const bson::Element& part) {
  return part.value.type() == Type::kString && part.value.as_string() == kTextIndexKind;
}

bool is_text_index(const IndexDefinition& index) {
  const bson::View keys = index.keys.view();
  return std::any_of(keys.begin(), keys.end(), is_text_part);
}

Status complete_text_index(IndexDefinition& index) {
  if (is_text_index(index)) return Completion(index).run();
  if (index.other_options.view().find("weights")) {
    return fail(ErrorCode::kCannotCreateIndex,
                "Invalid index specification: the field 'weights' can only be specified with text "
                "indexes");
  }
  for (const bson::Element part : index.keys.view()) {
    if (part.key != kTextTermField) continue;
    return fail(ErrorCode::kCannotCreateIndex, "Index key contains an illegal field name: '_fts'");
  }
  return {};
}

}  // namespace gridmount::query
