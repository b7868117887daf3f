// Filter::explain_failure() walks the specification again, along with the document. Only documents
// that fail validation are explained. So each condition is parsed again here, and a parsed
// condition need not keep its specification.
//
// Source: MongoDB manual, "Schema Validation" (the format of reports), and the server's behaviour.

#include "engine/query/filter/filter_failure.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "engine/bson/text.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/json_schema.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Builder;
using bson::Element;
using bson::Type;
using bson::ValueView;

// The number of array values that an explanation shows.
constexpr size_t kConsideredMax = 10;
// The limit of nesting of an explanation. MongoDB's manual allows a document 100 levels, and the
// reply around the explanation needs some.
constexpr int kNestingMax = 90;

enum class Traversal { kElements, kNone };

// The texts that explain an operator of a field.
struct OperatorText {
  std::string_view name;
  std::string_view failed;   // why a value does not match
  std::string_view matched;  // why a value matches, for a negated condition
  Traversal traversal = Traversal::kElements;
  std::vector<Type> types = {};  // the types that can match at all; empty for all types
};

const std::vector<OperatorText>& operator_texts() {
  static const std::vector<Type> kNumbers = {Type::kInt32, Type::kInt64, Type::kDouble,
                                             Type::kDecimal128};
  static const std::vector<Type> kBits = {Type::kInt32, Type::kInt64, Type::kDouble,
                                          Type::kDecimal128, Type::kBinary};
  static const std::string_view kCompared[] = {"comparison failed", "comparison succeeded"};
  static const std::string_view kBitwise[] = {"bitwise operator failed to match",
                                              "bitwise operator matched successfully"};
  static const std::string_view kListed[] = {"no matching value found in array",
                                             "matching value found in array"};
  constexpr Traversal kElements = Traversal::kElements;
  static const std::vector<OperatorText> kTexts = {
      {"$eq", kCompared[0], kCompared[1]},
      {"$ne", kCompared[0], kCompared[1]},
      {"$lt", kCompared[0], kCompared[1]},
      {"$lte", kCompared[0], kCompared[1]},
      {"$gt", kCompared[0], kCompared[1]},
      {"$gte", kCompared[0], kCompared[1]},
      {"$in", kListed[0], kListed[1]},
      {"$nin", kListed[0], kListed[1]},
      {"$type", "type did not match", "type did match"},
      {"$regex",
       "regular expression did not match",
       "regular expression did match",
       kElements,
       {Type::kString, Type::kSymbol, Type::kRegex}},
      {"$mod", "$mod did not evaluate to expected remainder",
       "$mod did evaluate to expected remainder", kElements, kNumbers},
      {"$size",
       "array length was not equal to given size",
       "array length was equal to given size",
       Traversal::kNone,
       {Type::kArray}},
      {"$all", "array did not contain all specified values",
       "array did contain all specified values", Traversal::kNone},
      {"$elemMatch",
       "array did not satisfy the child predicate",
       "array did satisfy the child predicate",
       Traversal::kNone,
       {Type::kArray}},
      {"$bitsAllSet", kBitwise[0], kBitwise[1], kElements, kBits},
      {"$bitsAnySet", kBitwise[0], kBitwise[1], kElements, kBits},
      {"$bitsAllClear", kBitwise[0], kBitwise[1], kElements, kBits},
      {"$bitsAnyClear", kBitwise[0], kBitwise[1], kElements, kBits},
  };
  return kTexts;
}

const OperatorText* find_text(std::string_view name) {
  const std::vector<OperatorText>& texts = operator_texts();
  const auto found = std::find_if(texts.begin(), texts.end(),
                                  [&](const OperatorText& text) { return text.name == name; });
  return found == texts.end() ? nullptr : &*found;
}

// One condition of a specification: one of its elements, or one operator of an element's operator
// document.
struct SpecifiedCondition {
  std::string_view name;  // the path, or a logical or document operator
  std::string_view operator_name;
  bson::Document specification;  // a specification of this condition alone
};

bson::Document only(const Element& element) {
  Builder builder;
  builder.append(element.key, element.value);
  return std::move(builder).finish();
}

// Returns {path: {$op: operand}}. $regex keeps its $options.
bson::Document only(std::string_view path, const Element& call, bson::View siblings) {
  Builder builder;
  builder.open_document(path).append(call.key, call.value);
  if (call.key == "$regex") {
    if (const std::optional<ValueView> options = siblings.find("$options")) {
      builder.append("$options", *options);
    }
  }
  builder.close();
  return std::move(builder).finish();
}

std::vector<SpecifiedCondition> parse_conditions(bson::View specification) {
  std::vector<SpecifiedCondition> conditions;
  for (const Element element : specification) {
    if (element.key == "$comment") continue;
    if (element.key.starts_with('$') && is_document_operator(element.key)) {
      conditions.push_back({element.key, element.key, only(element)});
    } else if (element.key.starts_with('$') || !is_operator_document(element.value)) {
      const bool is_regex = element.value.type() == Type::kRegex;
      conditions.push_back({element.key, is_regex ? "$regex" : "$eq", only(element)});
    } else {
      const bson::View operators = element.value.as_document();
      for (const Element call : operators) {
        if (call.key == "$options") continue;
        conditions.push_back({element.key, call.key, only(element.key, call, operators)});
      }
    }
  }
  return conditions;
}

struct Considered {
  bool missing = true;
  bool cut = false;
  std::vector<ValueView> values;
};

Considered considered_values(std::string_view path, bson::View document, Traversal traversal) {
  Considered considered;
  const auto add = [&](ValueView value) {
    if (considered.values.size() == kConsideredMax) {
      considered.cut = true;
      return false;
    }
    considered.values.push_back(value);
    return true;
  };
  bson::Path(path).visit(document, [&](const bson::Path::Reached& reached) {
    if (!reached.value) return true;
    considered.missing = false;
    if (traversal == Traversal::kNone || reached.value->type() != Type::kArray) {
      return add(*reached.value);
    }
    for (const Element element : reached.value->as_document()) {
      if (!add(element.value)) return false;
    }
    return true;
  });
  return considered;
}

// Appends the types under the name `one` if there is one type, and otherwise under the name
// `several`.
void append_types(std::string_view one, std::string_view several,
                  const std::set<std::string>& types, Builder& out) {
  if (types.size() == 1) {
    out.append(one, *types.begin());
    return;
  }
  out.open_array(several);
  for (const std::string& type : types) out.push(bson::Value(type));
  out.close();
}

void append_considered_types(const Considered& considered, Builder& out) {
  if (considered.values.empty()) return;
  std::set<std::string> types;
  for (const ValueView value : considered.values) {
    types.emplace(bson::type_alias(value.type()));
  }
  append_types("consideredType", "consideredTypes", types, out);
}

class Explainer {
 public:
  // `collator` is the order of strings in the filter. Null: as bytes.
  Explainer(bson::View document, SharedCollator collator, FailureBuilder& failure)
      : document_(document),
        collator_(std::move(collator)),
        failure_(failure),
        out_(failure.out()) {}

  // Appends the fields of an explanation to the open document. If `negated`, explains why the
  // specification matches although it must not.
  void explain(bson::View specification, bool negated) {
    const std::vector<SpecifiedCondition> conditions = parse_conditions(specification);
    if (conditions.size() == 1) {
      explain(conditions.front(), negated);
      return;
    }
    out_.append("operatorName", "$and");
    out_.open_array(negated ? "clausesSatisfied" : "clausesNotSatisfied");
    for (size_t i = 0; i < conditions.size(); ++i) {
      if (!negated && matches(conditions[i].specification)) continue;
      open_clause(i);
      explain(conditions[i], negated);
      close_clause();
    }
    out_.close();
  }

 private:
  bool matches(bson::View specification) const {
    const Result<Filter> filter = Filter::parse(specification, {.collator = collator_});
    return filter && filter->matches(document_);
  }

  void open_clause(size_t index) {
    out_.push_open_document().append("index", static_cast<int32_t>(index));
    out_.open_document("details");
  }
  void close_clause() { out_.close().close(); }

  void explain(const SpecifiedCondition& condition, bool negated) {
    const ValueView operand = (*condition.specification.view().begin()).value;
    const std::string_view name = condition.operator_name;
    if (name == "$and" || name == "$or" || name == "$nor") {
      explain_logical(name, operand.as_document(), negated);
    } else if (name == "$not") {
      explain_not(condition, negated);
    } else if (name == "$jsonSchema") {
      explain_schema(operand.as_document(), negated);
    } else if (name == "$expr") {
      append_name(condition);
      explain_expression(operand, negated);
    } else if (name == "$exists") {
      append_name(condition);
      // {$exists: false} fails because the path exists.
      const bool wanted = matches(condition.specification) == negated;
      const bool exists = !considered_values(condition.name, document_, Traversal::kNone).missing;
      out_.append("reason",
                  (wanted ? exists : negated) ? "path does exist" : "path does not exist");
    } else if (const OperatorText* const text = find_text(name)) {
      explain_values(condition, *text, negated);
    } else {
      append_name(condition);
      out_.append("reason", negated ? "expression always evaluates to true"
                                    : "expression always evaluates to false");
    }
  }

  void append_name(const SpecifiedCondition& condition) {
    out_.append("operatorName", condition.operator_name);
    failure_.append_value("specifiedAs", bson::Value(condition.specification.view()));
  }

  void explain_logical(std::string_view name, bson::View branches, bool negated) {
    const bool negates = negated != (name == "$nor");
    // In a conjunction only some branches fail, so those are chosen. In a disjunction all branches
    // fail. In a negated disjunction the branches that match are chosen.
    const bool chooses = name == "$and" ? !negates : negates;
    out_.append("operatorName", name);
    out_.open_array(negates ? "clausesSatisfied" : "clausesNotSatisfied");
    size_t index = 0;
    for (const Element branch : branches) {
      const bson::View specification = branch.value.as_document();
      if (!chooses || matches(specification) == negates) {
        open_clause(index);
        explain(specification, negates);
        close_clause();
      }
      ++index;
    }
    out_.close();
  }

  // Explains {path: {$not: {...}}} and {path: {$not: /x/}}.
  void explain_not(const SpecifiedCondition& condition, bool negated) {
    const ValueView operators = (*condition.specification.view().begin()).value;
    const ValueView operand = operators.as_document()["$not"];
    Builder below;
    below.append(condition.name, operand);
    out_.append("operatorName", "$not").open_document("details");
    explain(std::move(below).finish(), !negated);
    out_.close();
  }

  void explain_schema(bson::View specification, bool negated) {
    out_.append("operatorName", "$jsonSchema");
    if (negated) {
      out_.append("reason", "schema matched");
      return;
    }
    const Result<JsonSchema> schema = JsonSchema::parse(specification, 0);
    if (!schema) return;
    schema->append_annotations(out_);
    out_.open_array("schemaRulesNotSatisfied");
    schema->explain(ValueView(Type::kDocument, document_.data(), document_.size()), failure_);
    out_.close();
  }

  void explain_expression(ValueView operand, bool negated) {
    VariableScope scope;
    scope.set_collator(collator_);
    const Result<std::unique_ptr<Expression>> expression = parse_expression(operand, scope);
    if (!expression) return;
    Arena arena;
    EvaluationContext context{document_, {}, arena, bson::Date::now(), collator_.get()};
    const Result<std::optional<ValueView>> value = (*expression)->evaluate(context);
    if (value) {
      out_.append("reason", negated ? "expression did match" : "expression did not match");
      if (*value) failure_.append_value("expressionResult", **value);
      return;
    }
    out_.append("reason", "failed to evaluate aggregation expression");
    out_.open_document("details")
        .append("code", static_cast<int32_t>(value.error().code()))
        .append("codeName", error_code_name(value.error().code()))
        .append("errmsg", bson::valid_text(value.error().message()))
        .close();
  }

  void explain_values(const SpecifiedCondition& condition, const OperatorText& text, bool negated) {
    append_name(condition);
    const Considered considered = considered_values(condition.name, document_, text.traversal);
    const auto fits = [&](ValueView value) {
      return std::find(text.types.begin(), text.types.end(), value.type()) != text.types.end();
    };
    const bool negates =
        negated != (condition.operator_name == "$ne" || condition.operator_name == "$nin");
    const bool of_type =
        text.types.empty() || std::any_of(considered.values.begin(), considered.values.end(), fits);
    if (considered.missing) {
      out_.append("reason", "field was missing");
    } else if (!of_type) {
      out_.append("reason", "type did not match");
      append_considered_types(considered, out_);
      std::set<std::string> types;
      for (const Type type : text.types) types.emplace(bson::type_alias(type));
      append_types("expectedType", "expectedTypes", types, out_);
    } else {
      out_.append("reason", negates ? text.matched : text.failed);
    }
    append_considered(considered);
    if (condition.operator_name == "$type") append_considered_types(considered, out_);
  }

  void append_considered(const Considered& considered) {
    if (considered.missing) return;
    if (considered.values.size() == 1) {
      failure_.append_value("consideredValue", considered.values.front());
      return;
    }
    Builder values;
    values.open_array("values");
    for (const ValueView value : considered.values) values.push(value);
    values.close();
    failure_.append_value("consideredValues", std::move(values).finish().view()["values"]);
    if (considered.cut) out_.append("consideredValuesTruncated", true);
  }

  bson::View document_;
  SharedCollator collator_;
  FailureBuilder& failure_;
  Builder& out_;
};

bool nested_deeper(bson::View document, int levels) {
  if (levels == 0) return true;
  return std::any_of(document.begin(), document.end(), [&](const Element& element) {
    const Type type = element.value.type();
    return (type == Type::kDocument || type == Type::kArray) &&
           nested_deeper(element.value.as_document(), levels - 1);
  });
}

}  // namespace

bson::Document Filter::explain_failure(bson::View document) const {
  if (!source_) return bson::Document();
  std::string_view problem = "generated error was too large";
  for (const auto values : {FailureBuilder::Values::kShown, FailureBuilder::Values::kLeftOut}) {
    FailureBuilder failure(values);
    Explainer(document, source_->collator, failure).explain(source_->specification, false);
    if (failure.too_large()) continue;
    if (values == FailureBuilder::Values::kLeftOut) failure.out().append("truncated", true);
    bson::Document explanation = std::move(failure).finish();
    if (!nested_deeper(explanation, kNestingMax)) return explanation;
    problem = "generated error was too deeply nested";
  }
  Builder builder;
  builder.append("reason", problem).append("truncated", true);
  return std::move(builder).finish();
}

}  // namespace gridmount::query
