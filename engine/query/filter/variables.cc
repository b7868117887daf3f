#include "engine/query/filter/variables.h"

#include <deque>
#include <set>
#include <string>

#include "engine/bson/builder.h"

namespace gridmount::query {

constexpr ErrorCode kLetReadsField{4890500};

namespace {

bson::ValueView no_value() {
  return bson::ValueView(bson::Type::kUndefined, nullptr, 0);
}

}  // namespace

std::optional<bson::ValueView> value_of_variable(const bson::Element& variable) {
  if (variable.value.type() == bson::Type::kUndefined) return std::nullopt;
  return variable.value;
}

Result<bson::Document> evaluate_let(bson::View let, bson::Date now,
                                    const SharedCollator& collator) {
  VariableScope scope;
  scope.set_collator(collator);
  Arena arena;
  EvaluationContext context{bson::View(), {}, arena, now, collator.get()};
  std::deque<bson::Value> kept;  // the values that the slots point to
  bson::Builder values;
  for (const bson::Element variable : let) {
    GM_ASSIGN(const std::unique_ptr<Expression> expression,
              parse_expression(variable.value, scope));
    std::set<std::string> fields;
    expression->add_dependencies(fields);
    if (!fields.empty()) {
      return fail(kLetReadsField,
                  "Command let Expression tried to access a field, but this is not allowed because "
                  "Command let Expressions run before the query examines any documents.");
    }
    context.variables.resize(scope.slots());
    GM_ASSIGN(const std::optional<bson::ValueView> value, expression->evaluate(context));
    kept.push_back(value ? bson::Value(*value) : bson::Value(no_value()));
    GM_ASSIGN(const size_t slot, scope.declare(variable.key));
    context.variables.resize(scope.slots());
    if (value) context.variables[slot] = kept.back().view();
    values.append(variable.key, kept.back());
  }
  return std::move(values).finish();
}

Result<Variables> Variables::declare(bson::View values, SharedCollator collator) {
  Variables variables;
  variables.scope_.set_collator(std::move(collator));
  for (const bson::Element variable : values) GM_TRY(variables.scope_.declare(variable.key));
  variables.values_ = bson::Document(values);
  return variables;
}

std::vector<std::optional<bson::ValueView>> Variables::views() const {
  std::vector<std::optional<bson::ValueView>> views;
  for (const bson::Element variable : values_.view()) views.push_back(value_of_variable(variable));
  views.resize(scope_.slots());
  return views;
}

FilterOptions Variables::filter_options(bson::Date now) {
  FilterOptions options;
  options.scope = &scope_;
  options.collator = scope_.collator();
  for (const bson::Element variable : values_.view()) {
    const std::optional<bson::ValueView> value = value_of_variable(variable);
    options.variables.push_back(value ? std::optional(bson::Value(*value)) : std::nullopt);
  }
  options.now = now;
  return options;
}

Result<Filter> parse_filter(bson::View filter, bson::View variables, const SharedCollator& collator,
                            TextSource text, bool is_upsert) {
  if (variables.empty()) {
    return Filter::parse(filter,
                         {.is_upsert = is_upsert, .collator = collator, .text = std::move(text)});
  }
  GM_ASSIGN(Variables declared, Variables::declare(variables, collator));
  FilterOptions options = declared.filter_options(bson::Date::now());
  options.is_upsert = is_upsert;
  options.text = std::move(text);
  return Filter::parse(filter, options);
}

}  // namespace gridmount::query
