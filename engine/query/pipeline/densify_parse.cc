// Parses $densify. As on servers, $densify becomes a $sort and the stage that adds documents.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/field_path.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/densify_stage.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/stage_table.h"
#include "engine/query/pipeline/window_bounds.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using RangeKind = DensifyRange::Kind;

std::string densify_field(std::string_view name) {
  return "BSON field '$densify." + std::string(name) + "' is ";
}

tl::unexpected<Error> wrong_densify_type(std::string_view name, ValueView value,
                                         std::string_view expected) {
  return fail(ErrorCode::kTypeMismatch, densify_field(name) + "the wrong type '" +
                                            type_name(value) + "', " + std::string(expected));
}

class DensifyParser {
 public:
  Result<DensifyOptions> parse(bson::View specification) {
    GM_TRY(check_given_once("$densify", specification));
    for (const bson::Element option : specification) GM_TRY(read_option(option));
    GM_TRY(check_given("field", options_.field.has_value()));
    GM_TRY(check_given("range", range_.has_value()));
    GM_TRY(read_range(range_->as_document()));
    if (options_.range.kind == RangeKind::kPartition && options_.partition_by.empty()) {
      return fail(ErrorCode{5733408},
                  "One cannot specify the bounds as 'partition' without specifying a non-empty "
                  "array of partitionByFields. You may have meant to specify 'full' bounds.");
    }
    return std::move(options_);
  }

 private:
  static Status check_given(std::string_view name, bool is_given) {
    if (is_given) return {};
    return fail(ErrorCode{40414}, densify_field(name) + "missing but a required field");
  }

  // A null `field` or `range` counts as not given. A null `partitionByFields` fails.
  Status read_option(const bson::Element& option) {
    if (option.key != "field" && option.key != "partitionByFields" && option.key != "range") {
      return fail(ErrorCode::kUnknownField, densify_field(option.key) + "an unknown field.");
    }
    if (bson::is_nullish(option.value.type())) {
      if (option.key != "partitionByFields") return {};
      return fail(ErrorCode{10065}, "invalid parameter: expected an object (partitionByFields)");
    }
    if (option.key == "field") {
      if (option.value.type() != Type::kString) {
        return wrong_densify_type("field", option.value, "expected type 'string'");
      }
      GM_ASSIGN(options_.field, path_of(option.value));
      return {};
    }
    if (option.key == "partitionByFields") return read_partition_fields(option.value);
    if (option.value.type() != Type::kDocument) {
      return wrong_densify_type("range", option.value, "expected type 'object'");
    }
    range_ = option.value;
    return {};
  }

  static Result<bson::Path> path_of(ValueView name) {
    GM_TRY(check_field_path(name.as_string()));
    return bson::Path(name.as_string());
  }

  Status read_partition_fields(ValueView fields) {
    if (fields.type() != Type::kArray) {
      return wrong_densify_type("partitionByFields", fields, "expected type 'array'");
    }
    for (const bson::Element field : fields.as_document()) {
      if (field.value.type() != Type::kString) {
        return wrong_densify_type("partitionByFields." + std::string(field.key), field.value,
                                  "expected type 'string'");
      }
      GM_ASSIGN(bson::Path path, path_of(field.value));
      options_.partition_by.push_back(std::move(path));
    }
    return {};
  }

  Status read_range(bson::View range) {
    GM_TRY(check_given_once("$densify.range", range));
    std::optional<ValueView> bounds;
    bool has_step = false;
    for (const bson::Element option : range) {
      const ValueView value = option.value;
      if (option.key == "bounds") {
        bounds = value;
      } else if (option.key == "step") {
        if (bson::is_nullish(value.type())) continue;
        if (!value.is_number()) {
          return wrong_densify_type("range.step", value,
                                    "expected types '[int, decimal, double, long']");
        }
        options_.range.step = Value(value);
        has_step = true;
      } else if (option.key == "unit") {
        if (bson::is_nullish(value.type())) continue;
        if (value.type() != Type::kString) {
          return wrong_densify_type("range.unit", value, "expected type 'string'");
        }
        GM_ASSIGN(options_.range.unit, parse_time_unit(value.as_string()));
      } else {
        return fail(ErrorCode::kUnknownField,
                    densify_field("range." + std::string(option.key)) + "an unknown field.");
      }
    }
    GM_TRY(check_given("range.bounds", bounds.has_value()));
    GM_TRY(check_given("range.step", has_step));
    GM_TRY(check_step());
    return read_bounds(*bounds);
  }

  Status check_step() const {
    const ValueView step = options_.range.step.view();
    if (bson::compare(step, Value(int32_t{0}).view()) <= 0) {
      return fail(
          ErrorCode{5733401},
          "The step parameter in a range statement must be a strictly positive numeric value");
    }
    if (!options_.range.unit || step.integral()) return {};
    return fail(ErrorCode{6586400},
                "The step parameter in a range statement must be a whole number when densifying a "
                "date range");
  }

  Status read_bounds(ValueView bounds) {
    DensifyRange& range = options_.range;
    if (bounds.type() == Type::kArray) {
      range.kind = RangeKind::kExplicit;
      std::vector<ValueView> ends;
      for (const bson::Element element : bounds.as_document()) ends.push_back(element.value);
      if (ends.size() != 2) {
        return fail(ErrorCode{5733403},
                    "A bounding array in a range statement must have exactly two elements");
      }
      range.lower = Value(ends[0]);
      range.upper = Value(ends[1]);
      return check_ends(ends[0], ends[1]);
    }
    if (bounds.type() != Type::kString) {
      return fail(ErrorCode{5733404},
                  "The bounds in a range statement must be the string 'full', 'partition', or an "
                  "ascending array of two numbers or two dates");
    }
    if (bounds.as_string() != "full" && bounds.as_string() != "partition") {
      return fail(ErrorCode{5946802}, "Bounds string must either be 'full' or 'partition'");
    }
    range.kind = bounds.as_string() == "full" ? RangeKind::kFull : RangeKind::kPartition;
    return {};
  }

  Status check_ends(ValueView lower, ValueView upper) const {
    const DensifyRange& range = options_.range;
    const bool is_date = lower.type() == Type::kDate;
    if (!is_date && !lower.is_number()) {
      return fail(ErrorCode{5946800}, "Explicit bounds must be numeric or dates");
    }
    if (is_date && !range.unit) {
      return fail(ErrorCode{5733410}, "A bounding array of dates must specify a unit");
    }
    if (!is_date && range.unit) {
      return fail(ErrorCode{5733409}, "Numeric bounds may not have unit parameter");
    }
    if (is_date ? upper.type() != Type::kDate : !upper.is_number()) {
      return fail(ErrorCode{5733406},
                  "A bounding array must contain either both dates or both numeric types");
    }
    if (bson::compare(lower, upper) > 0) {
      return fail(ErrorCode{5733402},
                  "A bounding array must be an ascending array of either two dates or two numbers");
    }
    if (is_date || (lower.type() == upper.type() && lower.type() == range.step.type())) return {};
    return fail(ErrorCode{5876900},
                "Upper bound, lower bound, and step must all have the same type");
  }

  DensifyOptions options_;
  std::optional<ValueView> range_;
};

// Returns the order of the $sort. With the bounds "full" the order does not have the partition
// fields, because the stage fills all partitions at the same time.
bson::Document order_for(const DensifyOptions& options) {
  bson::Builder order;
  std::set<std::string> named;
  const auto append = [&](const bson::Path& path) {
    if (named.insert(path.dotted()).second) order.append(path.dotted(), int32_t{1});
  };
  if (options.range.kind != RangeKind::kFull) {
    for (const bson::Path& path : options.partition_by) append(path);
  }
  append(*options.field);
  return std::move(order).finish();
}

}  // namespace

Status parse_densify(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(
        ErrorCode::kFailedToParse,
        "The $densify stage specification must be an object, found " + type_name(call.value));
  }
  GM_ASSIGN(DensifyOptions options, DensifyParser().parse(call.value.as_document()));
  const Value order(order_for(options).view());
  GM_TRY(parse_sort({"$sort", order.view(), call.scope, call.level, call.depth}, stages));
  stages.push_back(std::make_unique<DensifyStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
