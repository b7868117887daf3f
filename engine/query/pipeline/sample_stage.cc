// $sample: draws documents at random. Each document has the same chance.

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/query/pipeline/stage_table.h"
#include "engine/query/sort.h"

namespace gridmount::query {
namespace {

using bson::Type;

class SampleStage : public Stage {
 public:
  explicit SampleStage(uint64_t size) : size_(size) {}

  std::string_view name() const override { return "$sample"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies&) override {}

 private:
  uint64_t size_;
};

// Keeps a random sample of the documents read so far. The stream takes the next document with the
// probability that the document belongs to the sample. The document then replaces a random document
// of the sample (Vitter's algorithm R).
class SampleStream : public DocumentStream {
 public:
  SampleStream(uint64_t size, Stream input, const PipelineContext& context)
      : size_(size),
        input_(std::move(input)),
        bytes_max_(context.memory_bytes_max),
        random_(context.random_seed) {}

  Result<std::optional<bson::View>> next() override {
    if (!gathered_) GM_TRY(gather());
    if (sample_.empty()) {
      given_ = {};
      return std::nullopt;
    }
    given_ = std::move(sample_.back());
    sample_.pop_back();
    return given_.document.view();
  }
  std::optional<double> text_score() const override { return given_.text_score; }

 private:
  struct Drawn {
    bson::Document document;
    std::optional<double> text_score;
  };

  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      const uint64_t at = read_++;
      if (at < size_) {
        sample_.push_back({bson::Document(*document), input_->text_score()});
        bytes_ += document->size() + sizeof(Drawn);
      } else {
        const uint64_t level = std::uniform_int_distribution<uint64_t>(0, at)(random_);
        if (level >= size_) continue;
        bytes_ += document->size();
        bytes_ -= sample_[level].document.view().size();
        sample_[level] = {bson::Document(*document), input_->text_score()};
      }
      if (bytes_ > bytes_max_) return sort_memory_exceeded(bytes_max_);
    }
    // Without the shuffle, the first documents would keep the order of the input.
    std::shuffle(sample_.begin(), sample_.end(), random_);
    input_.reset();
    gathered_ = true;
    return {};
  }

  const uint64_t size_;
  Stream input_;
  const uint64_t bytes_max_;
  std::mt19937_64 random_;
  std::vector<Drawn> sample_;
  uint64_t bytes_ = 0;
  uint64_t read_ = 0;
  bool gathered_ = false;
  Drawn given_;
};

Result<Stream> SampleStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<SampleStream>(size_, std::move(input), context);
}

}  // namespace

Status parse_sample(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{28745}, "the $sample stage specification must be an object");
  }
  std::optional<int64_t> size;
  for (const bson::Element option : call.value.as_document()) {
    if (option.key != "size") {
      return fail(ErrorCode{28748}, "unrecognized option to $sample: " + std::string(option.key));
    }
    if (!option.value.is_number()) {
      return fail(ErrorCode{28746}, "size argument to $sample must be a number");
    }
    // The size is rounded down.
    const double number = option.value.number().value_or(0);
    if (!(number >= 1)) {
      return fail(ErrorCode{28747}, number < 0 ? "size argument to $sample must not be negative"
                                               : "size argument to $sample must be positive");
    }
    size = static_cast<int64_t>(std::min(std::floor(number), 0x1p62));
  }
  if (!size) return fail(ErrorCode{28749}, "$sample stage must specify a size");
  stages.push_back(std::make_unique<SampleStage>(static_cast<uint64_t>(*size)));
  return {};
}

}  // namespace gridmount::query
