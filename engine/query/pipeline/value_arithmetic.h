// Calculates with two values, as the operators $add, $subtract, $multiply and $divide do. Internal
// to engine/query. A ValueArithmetic must be used by one thread at a time.
#pragma once

#include <memory>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

class ValueArithmetic {
 public:
  ValueArithmetic();

  // Return the result, or null if an operand is null. Fail with the codes of the operators.
  Result<bson::Value> add(bson::ValueView a, bson::ValueView b);
  Result<bson::Value> subtract(bson::ValueView a, bson::ValueView b);
  Result<bson::Value> multiply(bson::ValueView a, bson::ValueView b);
  // Fails with BadValue (2) if `b` is zero.
  Result<bson::Value> divide(bson::ValueView a, bson::ValueView b);

 private:
  Result<bson::Value> apply(const Expression& operation, bson::ValueView a, bson::ValueView b);

  std::unique_ptr<Expression> add_;
  std::unique_ptr<Expression> subtract_;
  std::unique_ptr<Expression> multiply_;
  std::unique_ptr<Expression> divide_;
  Evaluator evaluator_;
};

}  // namespace gridmount::query
