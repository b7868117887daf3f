// The stages $group and $sortByCount.

#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/group_table.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

ValueView null_value() {
  return ValueView(Type::kNull, nullptr, 0);
}

class GroupStage : public Stage {
 public:
  GroupStage(std::unique_ptr<Expression> id, std::vector<AccumulatedField> fields)
      : id_(std::move(id)), fields_(std::move(fields)) {}

  std::string_view name() const override { return "$group"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override {
    needs.clear();
    needs.add(*id_);
    for (const AccumulatedField& field : fields_) field.add_needs(needs);
  }

  const Expression& id() const { return *id_; }
  const std::vector<AccumulatedField>& fields() const { return fields_; }

 private:
  std::unique_ptr<Expression> id_;
  std::vector<AccumulatedField> fields_;
};

class GroupStream : public DocumentStream {
 public:
  GroupStream(const GroupStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        groups_(stage.fields(), "$group", evaluator_, context) {}

  Result<std::optional<bson::View>> next() override {
    if (!gathered_) GM_TRY(gather());
    if (at_ == groups_.size()) return std::nullopt;
    output_.begin();
    output_.append("_id", groups_.id(at_));
    groups_.write(at_, output_);
    groups_.release(at_);
    ++at_;
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }

 private:
  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      evaluator_.begin(*document, input_->text_score());
      GM_ASSIGN(const std::optional<ValueView> id, evaluator_.evaluate(stage_.id()));
      // Documents for which the _id is missing and documents for which it is null form one group.
      GM_TRY(groups_.add(id.value_or(null_value()), *document));
    }
    input_.reset();
    gathered_ = true;
    return {};
  }

  const GroupStage& stage_;
  Stream input_;
  Evaluator evaluator_;
  GroupTable groups_;
  DocumentOutput output_;
  bool gathered_ = false;
  size_t at_ = 0;
};

Result<Stream> GroupStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<GroupStream>(*this, std::move(input), context);
}

// Refuses {_id: {a: 1}}, which a user could take for the field `a`.
Status check_id(ValueView id) {
  if (id.type() != Type::kDocument || id.as_document().empty()) return {};
  if ((*id.as_document().begin()).key.starts_with('$')) return {};
  for (const bson::Element field : id.as_document()) {
    if (field.value.is_number() || field.value.type() == Type::kBool) {
      return fail(ErrorCode{17390}, "$group does not support inclusion-style expressions");
    }
  }
  return {};
}

// In an _id object with a single field, a missing value becomes null, as in an _id that is not an
// object. So {x: "$a"} is one group for documents without `a` and documents with a null `a`. In an
// object with several fields, missing fields are left out.
Result<std::unique_ptr<Expression>> parse_id(ValueView id, VariableScope& scope) {
  GM_TRY(check_id(id));
  if (id.type() != Type::kDocument || id.as_document().empty()) return parse_expression(id, scope);
  const bson::View object = id.as_document();
  const bson::Element first = *object.begin();
  if (first.key.starts_with('$') || std::next(object.begin()) != object.end()) {
    return parse_expression(id, scope);
  }
  bson::Builder or_null;
  or_null.open_document("").open_document(first.key).open_array("$ifNull");
  or_null.push(first.value).push(null_value());
  or_null.close().close().close();
  const bson::Document holder = std::move(or_null).finish();
  return parse_expression((*holder.view().begin()).value, scope);
}

}  // namespace

Status parse_group(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{15947}, "a group's fields must be specified in an object");
  }
  std::unique_ptr<Expression> id;
  std::vector<AccumulatedField> fields;
  for (const bson::Element element : call.value.as_document()) {
    if (element.key != "_id") {
      GM_ASSIGN(AccumulatedField field,
                parse_accumulated_field(element.key, element.value, call.scope));
      fields.push_back(std::move(field));
    } else if (id != nullptr) {
      return fail(ErrorCode{15948}, "a group's _id may only be specified once");
    } else {
      GM_ASSIGN(id, parse_id(element.value, call.scope));
    }
  }
  if (id == nullptr) return fail(ErrorCode{15955}, "a group specification must include an _id");
  stages.push_back(std::make_unique<GroupStage>(std::move(id), std::move(fields)));
  return {};
}

Status parse_sort_by_count(const StageCall& call, ParsedStages& stages) {
  const ValueView value = call.value;
  if (value.type() == Type::kDocument) {
    const bson::View document = value.as_document();
    if (document.empty() || !(*document.begin()).key.starts_with('$')) {
      return fail(ErrorCode{40147},
                  "the sortByCount field must be defined as a $-prefixed path or an expression "
                  "inside an object");
    }
  } else if (value.type() == Type::kString) {
    if (!value.as_string().starts_with('$')) {
      return fail(ErrorCode{40148},
                  "the sortByCount field must be defined as a $-prefixed path or an expression "
                  "inside an object");
    }
  } else {
    return fail(ErrorCode{40149},
                "the sortByCount field must be specified as a string or as an object");
  }
  bson::Builder group;
  group.append("_id", value).open_document("count").append("$sum", int32_t{1}).close();
  bson::Builder sort;
  sort.append("count", int32_t{-1});
  const bson::Value group_value(std::move(group).finish().view());
  const bson::Value sort_value(std::move(sort).finish().view());
  GM_TRY(parse_group({"$group", group_value.view(), call.scope, call.level, call.depth}, stages));
  return parse_sort({"$sort", sort_value.view(), call.scope, call.level, call.depth}, stages);
}

}  // namespace gridmount::query
