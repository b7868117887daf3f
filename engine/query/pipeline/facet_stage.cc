// $facet: runs several pipelines over the same input and makes one document of their results.
//
// The pipelines take turns, so that the stage never holds the whole input. Each pipeline gets the
// input in portions. The stage reads the pipeline until it needs a document of the next portion.
// Then the pipeline's input fails with kPaused. The error passes up through the pipeline's stages,
// which keep the documents that they have gathered, and continue when they are called again.

#include <string>
#include <vector>

#include "engine/query/output.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kPaused{-1};
constexpr uint64_t kPortionBytes = 1024 * 1024;

struct Facet {
  std::string name;
  Pipeline pipeline;
};

class FacetStage : public Stage {
 public:
  explicit FacetStage(std::vector<Facet> facets) : facets_(std::move(facets)) {}

  std::string_view name() const override { return "$facet"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override {
    needs.clear(true);
    for (const Facet& facet : facets_) {
      const std::optional<std::set<std::string>>& fields = facet.pipeline.request().fields;
      if (!fields) return needs.add_all();
      for (const std::string& field : *fields) needs.add(field);
    }
  }
  void add_collections(std::set<CollectionName>& names) const override {
    for (const Facet& facet : facets_) {
      names.insert(facet.pipeline.other_collections().begin(),
                   facet.pipeline.other_collections().end());
    }
  }

  const std::vector<Facet>& facets() const { return facets_; }

 private:
  std::vector<Facet> facets_;
};

// The portion of the input that all pipelines get.
struct Portion {
  std::vector<bson::Document> documents;
  std::vector<std::optional<double>> text_scores;  // one for each document
  uint64_t bytes = 0;
  bool last = false;
};

class FacetInput : public DocumentStream {
 public:
  explicit FacetInput(const Portion& portion) : portion_(portion) {}

  Result<std::optional<bson::View>> next() override {
    if (at_ < portion_.documents.size()) return portion_.documents[at_++].view();
    if (portion_.last) return std::nullopt;
    return fail(kPaused, "");
  }
  std::optional<double> text_score() const override {
    return at_ == 0 ? std::nullopt : portion_.text_scores[at_ - 1];
  }
  void rewind() { at_ = 0; }

 private:
  const Portion& portion_;
  size_t at_ = 0;
};

class FacetStream : public DocumentStream {
 public:
  FacetStream(const FacetStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage), input_(std::move(input)), bytes_max_(context.memory_bytes_max) {}

  Status open(const PipelineContext& context) {
    runs_.resize(stage_.facets().size());
    for (size_t i = 0; i < runs_.size(); ++i) {
      auto input = std::make_unique<FacetInput>(portion_);
      runs_[i].input = input.get();
      GM_ASSIGN(runs_[i].stream,
                open_stages(stage_.facets()[i].pipeline, 0, std::move(input), context));
    }
    return {};
  }

  Result<std::optional<bson::View>> next() override {
    if (done_) return std::nullopt;
    while (running()) {
      GM_TRY(read_portion());
      for (Run& run : runs_) GM_TRY(advance(run));
      portion_.documents.clear();
      portion_.text_scores.clear();
      portion_.bytes = 0;
    }
    done_ = true;
    output_.begin();
    for (size_t i = 0; i < runs_.size(); ++i) {
      GM_ASSIGN(const bson::View results, runs_[i].results.finish());
      output_.append(stage_.facets()[i].name,
                     ValueView(Type::kArray, results.data(), results.size()));
    }
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }

 private:
  struct Run {
    Stream stream;  // null once all results have been read
    FacetInput* input = nullptr;
    DocumentOutput results;
  };

  bool running() const {
    for (const Run& run : runs_) {
      if (run.stream != nullptr) return true;
    }
    return false;
  }

  // If the input itself pauses, the next call continues to fill the portion.
  Status read_portion() {
    while (portion_.bytes < kPortionBytes && !portion_.last) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) {
        portion_.last = true;
      } else {
        portion_.documents.emplace_back(*document);
        portion_.text_scores.push_back(input_->text_score());
        portion_.bytes += document->size();
      }
    }
    return {};
  }

  Status advance(Run& run) {
    if (run.stream == nullptr) return {};
    run.input->rewind();
    while (true) {
      const Result<std::optional<bson::View>> result = run.stream->next();
      if (!result && result.error().code() == kPaused) return {};
      if (!result) return fail(result.error());
      if (!*result) break;
      bytes_ += (*result)->size();
      if (bytes_ > bytes_max_) {
        return fail(ErrorCode{4031700}, "document constructed by $facet is " +
                                            std::to_string(bytes_) +
                                            " bytes, which exceeds the limit of " +
                                            std::to_string(bytes_max_) + " bytes");
      }
      run.results.push(ValueView(Type::kDocument, (*result)->data(), (*result)->size()));
    }
    run.stream.reset();
    return {};
  }

  const FacetStage& stage_;
  Stream input_;
  const uint64_t bytes_max_;
  Portion portion_;
  std::vector<Run> runs_;
  uint64_t bytes_ = 0;
  bool done_ = false;
  DocumentOutput output_;
};

Result<Stream> FacetStage::open(Stream input, const PipelineContext& context) const {
  auto stream = std::make_unique<FacetStream>(*this, std::move(input), context);
  GM_TRY(stream->open(context));
  return stream;
}

}  // namespace

Status parse_facet(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument || call.value.as_document().empty()) {
    return fail(ErrorCode{40169},
                "the $facet specification must be a non-empty object, but found: $facet: " +
                    shown(call.value));
  }
  std::vector<Facet> facets;
  for (const bson::Element element : call.value.as_document()) {
    const std::string name(element.key);
    Status named = check_field_path(name);
    if (named && name.find('.') != std::string::npos) {
      named = fail(ErrorCode{16412},
                   "FieldPath field names may not contain '.'. Consider using $getField or "
                   "$setField.");
    }
    if (!named) {
      return fail(std::move(named).error().with_context(
          "$facet pipeline names must follow the naming rules of field path expressions. :: caused "
          "by :"));
    }
    if (element.value.type() != Type::kArray) {
      return fail(ErrorCode{40170}, "arguments to $facet must be arrays, " + name + " is type " +
                                        type_name(element.value));
    }
    for (const bson::Element stage : element.value.as_document()) {
      if (stage.value.type() == Type::kDocument) continue;
      return fail(ErrorCode{40171},
                  "elements of arrays in $facet spec must be non-empty objects, " + name +
                      " argument contained an element of type " + type_name(stage.value) + ": " +
                      shown(stage.value));
    }
    GM_ASSIGN(Pipeline pipeline,
              parse_sub_pipeline(element.value, call, PipelineLevel::kFacet, true));
    facets.push_back({name, std::move(pipeline)});
  }
  stages.push_back(std::make_unique<FacetStage>(std::move(facets)));
  return {};
}

}  // namespace gridmount::query
