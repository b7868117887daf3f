// Evaluates a window function for the documents of a partition, one at a time, in order. Internal
// to engine/query. A WindowEvaluation must be used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/error.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/pipeline/window_frame.h"
#include "engine/query/pipeline/window_function.h"
#include "engine/query/pipeline/window_state.h"

namespace gridmount::query {

class WindowEvaluation {
 public:
  virtual ~WindowEvaluation() = default;

  // Must be called before the first document of each partition. `partition` must stay valid until
  // the last call of next() for this partition has returned.
  virtual void begin(const WindowPartition& partition) = 0;
  // Returns the result for a document. `current` is the document's position in the partition, from
  // 0. Must be called for all documents of the partition in their order. The caller owns the
  // result.
  virtual WindowResult next(size_t current) = 0;
  // Returns how many bytes of memory the window uses.
  virtual uint64_t bytes() const { return 0; }
};

// Returns the error that servers report, 5414201.
Status window_memory_exceeded(uint64_t bytes, uint64_t bytes_max);

// Makes the evaluation of a function. `function` and `evaluator` must outlive the result. Fails as
// evaluate_n() does if the function has an `n`. next() of the result fails with
// window_memory_exceeded() if bytes() exceeds `bytes_max`.
Result<std::unique_ptr<WindowEvaluation>> make_window_evaluation(const WindowFunction& function,
                                                                 Evaluator& evaluator,
                                                                 uint64_t bytes_max);

// Makes the evaluation of $linearFill. make_window_evaluation() calls it. `function` and
// `evaluator` must outlive the result.
std::unique_ptr<WindowEvaluation> make_linear_fill(const WindowFunction& function,
                                                   Evaluator& evaluator);

}  // namespace gridmount::query
