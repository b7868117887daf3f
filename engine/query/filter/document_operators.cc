// Operators that stand in place of a field name and test the whole document: $jsonSchema,
// $sampleRate, $alwaysTrue, $alwaysFalse, $text, and operators that are refused. $expr is in
// expression_predicate.cc.
//
// Source: MongoDB manual, "Evaluation Query Operators" and "Miscellaneous Query Operators".

#include <algorithm>
#include <random>

#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/json_schema.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/text/text_query.h"

namespace gridmount::query {
namespace {

using bson::Element;
using MadePredicate = Result<std::unique_ptr<Predicate>>;

class ConstantPredicate : public DocumentPredicate {
 public:
  explicit ConstantPredicate(bool value) : value_(value) {}
  bool test(bson::View, MatchContext&) const override { return value_; }

 private:
  bool value_;
};

class SamplePredicate : public DocumentPredicate {
 public:
  explicit SamplePredicate(double rate) : rate_(rate) {}
  bool test(bson::View, MatchContext&) const override {
    thread_local std::mt19937_64 random{std::random_device{}()};
    return std::uniform_real_distribution<double>()(random) < rate_;
  }

 private:
  double rate_;
};

class JsonSchemaPredicate : public DocumentPredicate {
 public:
  explicit JsonSchemaPredicate(JsonSchema schema) : schema_(std::move(schema)) {}
  bool test(bson::View document, MatchContext& context) const override {
    return schema_.allows(bson::ValueView(bson::Type::kDocument, document.data(), document.size()),
                          context);
  }

 private:
  JsonSchema schema_;
};

MadePredicate parse_comment(const Element&, const FilterPosition&) {
  return std::unique_ptr<Predicate>();  // $comment is only for logs and profiles
}

MadePredicate parse_constant(const Element& element, const FilterPosition&) {
  GM_ASSIGN(const int64_t number, integer(element.key, element.value));
  if (number != 1) {
    return fail(ErrorCode::kFailedToParse,
                std::string(element.key) + " must be an integer value of 1");
  }
  return std::unique_ptr<Predicate>(
      std::make_unique<ConstantPredicate>(element.key == "$alwaysTrue"));
}

MadePredicate parse_sample_rate(const Element& element, const FilterPosition&) {
  if (!element.value.is_number()) {
    return fail(ErrorCode::kBadValue, "argument to $sampleRate must be a numeric type");
  }
  const double rate = element.value.number().value_or(-1);
  if (!(rate >= 0.0 && rate <= 1.0)) {
    return fail(ErrorCode::kBadValue, "numeric argument to $sampleRate must be in [0, 1]");
  }
  return std::unique_ptr<Predicate>(std::make_unique<SamplePredicate>(rate));
}

MadePredicate parse_json_schema(const Element& element, const FilterPosition& place) {
  if (element.value.type() != bson::Type::kDocument) {
    return fail(ErrorCode::kTypeMismatch, "$jsonSchema must be an object");
  }
  GM_ASSIGN(JsonSchema schema, JsonSchema::parse(element.value.as_document(), place.depth + 1));
  return std::unique_ptr<Predicate>(std::make_unique<JsonSchemaPredicate>(std::move(schema)));
}

MadePredicate refuse_where(const Element&, const FilterPosition&) {
  return fail(ErrorCode::kBadValue,
              "no globalScriptEngine in $where parsing: JavaScript is not supported");
}

// {$text: ...} on the strings of a text index.
class TextPredicate : public DocumentPredicate {
 public:
  explicit TextPredicate(std::shared_ptr<const TextQuery> query) : query_(std::move(query)) {
    for (const std::string& term : query_->index_terms()) terms_.emplace_back(term);
    for (const bson::Value& term : terms_) operands_.push_back(term.view());
  }

  Kind kind() const override { return Kind::kText; }
  const bson::Path& path() const override { return text_path(); }
  const std::vector<bson::ValueView>* operands() const override { return &operands_; }
  const TextQuery* text_query() const override { return query_.get(); }
  bool test(bson::View document, MatchContext& context) const override {
    return query_->matches(document, [&](size_t bytes) { return !context.has_ended(bytes); });
  }

 private:
  std::shared_ptr<const TextQuery> query_;
  std::vector<bson::Value> terms_;
  std::vector<bson::ValueView> operands_;
};

// Stands for a $text that the source of the documents has tested already. The parser of the filter
// counts this predicate as a $text.
class SearchedPredicate : public DocumentPredicate {
 public:
  Kind kind() const override { return Kind::kText; }
  bool test(bson::View, MatchContext&) const override { return true; }
};

MadePredicate parse_text(const Element& element, const FilterPosition& place) {
  GM_TRY(check_text_operand(element.value));
  if (place.options.text.search == TextSearch::kDoneBySource) {
    return std::unique_ptr<Predicate>(std::make_unique<SearchedPredicate>());
  }
  if (place.options.text.index == nullptr) {
    return fail(ErrorCode::kIndexNotFound, "text index required for $text query");
  }
  GM_TRY(place.memory.take(element.value.size()));
  GM_ASSIGN(std::shared_ptr<const TextQuery> query,
            TextQuery::parse(element.value, place.options.text.index));
  constexpr size_t kTermBytes = 700;
  GM_TRY(place.memory.take(query->index_terms().size() * kTermBytes));
  return std::unique_ptr<Predicate>(std::make_unique<TextPredicate>(std::move(query)));
}

struct DocumentOperator {
  std::string_view name;
  MadePredicate (*parse)(const Element& element, const FilterPosition& place);
  bool whole_document_only = false;
  bool special = false;
};

constexpr DocumentOperator kDocumentOperators[] = {
    {"$comment", parse_comment},
    {"$expr", parse_expression_predicate, true, true},
    {"$jsonSchema", parse_json_schema, false, true},
    {"$alwaysTrue", parse_constant},
    {"$alwaysFalse", parse_constant},
    {"$sampleRate", parse_sample_rate},
    {"$where", refuse_where},
    {"$text", parse_text, true, true},
};

const DocumentOperator* find_operator(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kDocumentOperators), std::end(kDocumentOperators),
                   [&](const DocumentOperator& entry) { return entry.name == name; });
  return found == std::end(kDocumentOperators) ? nullptr : found;
}

}  // namespace

bool is_document_operator(std::string_view name) {
  return name == "$and" || name == "$or" || name == "$nor" || find_operator(name) != nullptr;
}

MadePredicate parse_document_operator(const Element& element, const FilterPosition& place) {
  const DocumentOperator* const found = find_operator(element.key);
  if (found == nullptr) {
    return fail(ErrorCode::kBadValue,
                "unknown top level operator: " + std::string(element.key) +
                    ". If you have a field name that starts with a '$' symbol, consider using "
                    "$getField or $setField.");
  }
  if (place.options.is_upsert && element.key == "$expr") {
    return fail(ErrorCode::kQueryFeatureNotAllowed,
                "$expr is not allowed in the query predicate for an upsert");
  }
  if (found->special && !place.options.special_operators) {
    return fail(ErrorCode::kQueryFeatureNotAllowed,
                std::string(element.key) + " is not allowed in this context");
  }
  if (found->whole_document_only && place.in_subdocument) {
    return fail(ErrorCode::kBadValue,
                std::string(element.key) + " can only be applied to the top-level document");
  }
  return found->parse(element, place);
}

}  // namespace gridmount::query
