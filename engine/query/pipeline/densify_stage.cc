#include "engine/query/pipeline/densify_stage.h"

#include <map>
#include <string>

#include "engine/bson/compare.h"
#include "engine/query/expression/time_zone.h"
#include "engine/query/interruption.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/path_writer.h"
#include "engine/query/pipeline/value_arithmetic.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<Value>;
using RangeKind = DensifyRange::Kind;

// The default of the servers' parameter internalQueryMaxAllowedDensifyDocs.
constexpr int64_t kMadeDocumentsMax = 500'000;

// The values of the partition fields. nullopt means missing, which differs from null here.
using PartitionKey = std::vector<MaybeValue>;

struct PartitionKeyLess {
  const bson::StringOrder* strings;
  bool operator()(const PartitionKey& a, const PartitionKey& b) const {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].has_value() != b[i].has_value()) return b[i].has_value();
      if (!a[i]) continue;
      const std::weak_ordering order = bson::compare(a[i]->view(), b[i]->view(), strings);
      if (order != 0) return order < 0;
    }
    return false;
  }
};

// Returns the value at the path. Does not enter arrays on the path.
std::optional<ValueView> value_at(bson::View document, const bson::Path& path) {
  const auto& parts = path.parts();
  for (size_t i = 0;; ++i) {
    const std::optional<ValueView> value = document.find(parts[i]);
    if (!value || i + 1 == parts.size()) return value;
    if (value->type() != Type::kDocument) return std::nullopt;
    document = value->as_document();
  }
}

// Adds the step to values.
class Steps {
 public:
  explicit Steps(const DensifyRange& range) : range_(range) {}

  Result<Value> after(const Value& value) {
    if (!range_.unit) return arithmetic_.add(value.view(), range_.step.view());
    GM_ASSIGN(const bson::Date date,
              expressions::add_to_date(value.view().as_date(), *range_.unit,
                                       *range_.step.view().integral(), expressions::TimeZone()));
    return Value(date);
  }

 private:
  const DensifyRange& range_;
  ValueArithmetic arithmetic_;
};

class DensifyStream : public DocumentStream {
 public:
  DensifyStream(const DensifyOptions& options, Stream input, const PipelineContext& context)
      : options_(options),
        range_(options.range),
        steps_(options.range),
        input_(std::move(input)),
        bytes_max_(context.memory_bytes_max),
        grids_(PartitionKeyLess{context.collator.get()}) {}

  Result<std::optional<bson::View>> next() override {
    while (true) {
      if (filled_ != nullptr) {
        GM_ASSIGN(const std::optional<bson::View> made, make_next());
        if (made) {
          text_score_.reset();
          return made;
        }
        filled_ = nullptr;
      }
      if (current_) {
        text_score_ = input_->text_score();
        return std::exchange(current_, std::nullopt);
      }
      if (input_ == nullptr) {
        if (to_end_ == order_.size()) return std::nullopt;
        filled_ = order_[to_end_++];
        continue;
      }
      GM_ASSIGN(current_, input_->next());
      GM_TRY(current_ ? begin_document(*current_) : begin_end());
    }
  }
  std::optional<double> text_score() const override { return text_score_; }

 private:
  struct Grid {
    explicit Grid(Value first) : next(std::move(first)) {}

    Value next;             // the next value to make
    bool is_begun = false;  // `next` is not the first value
    const PartitionKey* key = nullptr;
  };

  // Begins the values of the document's partition that are before the document.
  Status begin_document(bson::View document) {
    if (is_complete()) return {};
    const std::optional<ValueView> value = value_at(document, *options_.field);
    if (!value || bson::is_nullish(value->type())) return {};
    GM_TRY(check_type(*value));
    if (!least_) least_.emplace(*value);
    last_.emplace(*value);
    key_.clear();
    for (const bson::Path& path : options_.partition_by) {
      const std::optional<ValueView> part = value_at(document, path);
      key_.push_back(part ? MaybeValue(Value(*part)) : std::nullopt);
    }
    GM_ASSIGN(filled_, grid_of(key_, *last_));
    return {};
  }

  // Returns whether all values have been made. Servers then no longer check the input's values.
  bool is_complete() const {
    return range_.kind == RangeKind::kExplicit && options_.partition_by.empty() &&
           !order_.empty() && order_.front()->is_begun &&
           bson::compare(order_.front()->next.view(), range_.upper.view()) >= 0;
  }

  // Begins the values after the last document of each partition.
  Status begin_end() {
    input_.reset();
    is_end_ = true;
    if (range_.kind == RangeKind::kPartition) order_.clear();
    if (range_.kind != RangeKind::kExplicit || !order_.empty()) return {};
    // Without documents, the stage makes the whole range once.
    GM_TRY(grid_of(PartitionKey(options_.partition_by.size()), range_.lower));
    return {};
  }

  Status check_type(ValueView value) const {
    if (!value.is_number() && value.type() != Type::kDate) {
      return fail(ErrorCode{5733201}, "Densify field type must be numeric or a date");
    }
    if ((value.type() == Type::kDate) == range_.unit.has_value()) return {};
    return fail(ErrorCode{6053600},
                range_.unit ? "Encountered numeric densify value in collection when step has a "
                              "date unit."
                            : "Encountered date densify value in collection when step does not "
                              "have a date unit.");
  }

  // Returns the grid of the partition. A new grid begins at the lower bound of an explicit range,
  // at the least value of all partitions for "full", and at `value` for "partition".
  Result<Grid*> grid_of(const PartitionKey& key, const Value& value) {
    const auto found = grids_.find(key);
    if (found != grids_.end()) return &found->second;
    const Value& first = range_.kind == RangeKind::kExplicit ? range_.lower
                         : range_.kind == RangeKind::kFull   ? *least_
                                                             : value;
    for (const MaybeValue& part : key) bytes_ += part ? part->bytes().size() : 0;
    bytes_ += sizeof(Grid) + key.size() * sizeof(MaybeValue) + first.bytes().size();
    if (bytes_ > bytes_max_) {
      return fail(ErrorCode{6007200}, "$densify needs more memory for its partitions than " +
                                          std::to_string(bytes_max_) + " bytes");
    }
    const auto made = grids_.emplace(key, Grid(first)).first;
    made->second.key = &made->first;
    order_.push_back(&made->second);
    return &made->second;
  }

  // Returns whether the grid's next value is made before the current document, or at the end. Skips
  // a value that the document has.
  Result<bool> is_next_made() {
    const bool is_explicit = range_.kind == RangeKind::kExplicit;
    const bool is_below_upper =
        !is_explicit || bson::compare(filled_->next.view(), range_.upper.view()) < 0;
    // A range with equal bounds has only its first value. That value is made before a document that
    // is above it, but not after the last document.
    const bool is_first = !filled_->is_begun;
    if (is_end_) {
      if (is_explicit) return is_below_upper || (is_first && !last_);
      return bson::compare(filled_->next.view(), last_->view()) <= 0;
    }
    const std::weak_ordering order = bson::compare(filled_->next.view(), last_->view());
    if (order < 0) return is_below_upper || is_first;
    // The document has the value, maybe as a number of another type. The grid continues from it.
    if (order == 0) GM_TRY(advance_from(*last_));
    return false;
  }

  Status advance_from(const Value& value) {
    GM_ASSIGN(filled_->next, steps_.after(value));
    filled_->is_begun = true;
    return {};
  }

  Result<std::optional<bson::View>> make_next() {
    GM_ASSIGN(const bool is_made, is_next_made());
    if (!is_made) return std::nullopt;
    GM_TRY(check_interruption());
    if (++made_ > kMadeDocumentsMax) {
      return fail(ErrorCode{5897900},
                  "Generated " + std::to_string(made_) +
                      " documents in $densify, which is over the limit of " +
                      std::to_string(kMadeDocumentsMax) +
                      ". Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more "
                      "generated documents");
    }
    GM_ASSIGN(const bson::View document, made_document(is_end_ ? *filled_->key : key_));
    GM_TRY(advance_from(filled_->next));
    return document;
  }

  // Makes a document with the partition's fields and the grid's next value.
  Result<bson::View> made_document(const PartitionKey& key) {
    made_document_ = bson::Document();
    for (size_t i = 0; i < key.size(); ++i) {
      if (key[i]) GM_TRY(set_in_made(options_.partition_by[i], key[i]->view()));
    }
    if (value_at(made_document_, *options_.field)) {
      return fail(ErrorCode{5733306}, "DocGenerator cannot include field that is being densified");
    }
    GM_TRY(set_in_made(*options_.field, filled_->next.view()));
    return bson::View(made_document_);
  }

  Status set_in_made(const bson::Path& path, ValueView value) {
    output_.begin();
    append_with_field(made_document_, path.parts(), value, nullptr, output_);
    GM_ASSIGN(const bson::View document, output_.finish());
    made_document_ = bson::Document(document);
    return {};
  }

  const DensifyOptions& options_;
  const DensifyRange& range_;
  Steps steps_;
  Stream input_;  // null at the end
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  int64_t made_ = 0;
  std::optional<bson::View> current_;  // the document of the input that comes next
  std::optional<double> text_score_;   // of the document returned last; a made document has none
  MaybeValue least_;                   // the least value of the field
  MaybeValue last_;   // the field's value in the newest document that has the field
  PartitionKey key_;  // the partition of that document
  std::map<PartitionKey, Grid, PartitionKeyLess> grids_;
  std::vector<Grid*> order_;  // in the order of their first documents
  Grid* filled_ = nullptr;    // the grid whose values are made now
  bool is_end_ = false;
  size_t to_end_ = 0;  // the position in order_ of the next grid to complete at the end
  DocumentOutput output_;
  bson::Document made_document_;
};

}  // namespace

Result<Stream> DensifyStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<DensifyStream>(options_, std::move(input), context);
}

void DensifyStage::plan(FieldDependencies& needs) {
  needs.add(options_.field->dotted());
  for (const bson::Path& path : options_.partition_by) needs.add(path.dotted());
}

}  // namespace gridmount::query
