// Fuzzes pipelines. The input is a sequence of documents: one whose values are the stages of a
// pipeline, and those of a collection that the pipeline runs over, joins and writes to. However the
// input reaches the pipeline, each result must be valid. Stages that an update may contain are also
// applied as an update, and a projection also by find().

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "engine/query/projection/projection.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/fake_pipeline_storage.h"
#include "tests/fuzz/documents_in.h"
#include "tests/fuzz/limited_checks_interruption.h"

using namespace gridmount;

namespace {

constexpr int kChecksMax = 20;
constexpr uint64_t kMemoryBytesMax = 1 << 20;

void check_valid(bson::View document) {
  if (!bson::validate(document.bytes(), UINT32_MAX)) abort();
}

// A PipelineStorage with one collection for all names. It fails when stages make documents without
// end.
class FuzzedPipelineStorage : public query::FakePipelineStorage {
 public:
  Result<std::unique_ptr<query::DocumentStream>> find(const query::CollectionName&,
                                                      const query::FindRequest& request) override {
    GM_TRY(check_interrupt());
    return FakePipelineStorage::find({}, request);
  }
  Status check_interrupt() override {
    if (++checks_ <= kChecksMax) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "enough");
  }
  Result<bool> has_unique_index(const query::CollectionName&,
                                const std::set<std::string>&) override {
    return true;
  }

 private:
  int checks_ = 0;
};

void run(bson::View stages, const query::FakePipelineStorage::Documents& documents, bool minimal,
         query::Pipeline::Input input) {
  query::VariableScope scope;
  const Result<query::Pipeline> pipeline = query::Pipeline::parse(stages, scope);
  if (!pipeline) return;
  FuzzedPipelineStorage storage;
  storage.minimal = minimal;
  storage.collections[{}] = documents;
  std::unique_ptr<query::DocumentStream> source;
  if (pipeline->reads_input()) {
    query::FindRequest request;
    if (input == query::Pipeline::Input::kRequested) request = pipeline->request();
    if (input == query::Pipeline::Input::kFiltered) request.filter = pipeline->request().filter;
    request.fields = pipeline->request().fields;
    Result<std::unique_ptr<query::DocumentStream>> found = storage.find({}, request);
    if (!found) {
      // A filter and a sort that were parsed as parts of the pipeline must be valid, and the
      // pipeline must not request a field twice.
      if (found.error().code() == ErrorCode::kInternalError) abort();
      return;
    }
    source = *std::move(found);
  }
  const query::PipelineContext context{storage, {}, {1000}, {}, kMemoryBytesMax, 1};
  Result<std::unique_ptr<query::DocumentStream>> stream =
      pipeline->run(std::move(source), context, input);
  for (int results = 0; stream && results < 1000; ++results) {
    const Result<std::optional<bson::View>> document = (*stream)->next();
    if (!document && document.error().code() < ErrorCode{0}) abort();
    if (!document || !*document) break;
    check_valid(**document);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<bson::View> documents = documents_in({data, size});
  if (documents.empty()) return 0;
  LimitedChecksInterruption limit;
  const query::InterruptionScope scope(limit);
  const bson::View stages = documents[0];
  // Each document has a distinct _id, as in a store.
  query::FakePipelineStorage::Documents collection;
  for (size_t i = 1; i < documents.size(); ++i) {
    bson::Builder builder;
    builder.append("_id", static_cast<int32_t>(i));
    for (const bson::Element element : documents[i]) {
      if (element.key != "_id") builder.append(element.key, element.value);
    }
    collection.push_back(std::move(builder).finish());
  }
  for (const bool minimal : {false, true}) {
    for (const auto input : {query::Pipeline::Input::kEverything, query::Pipeline::Input::kFiltered,
                             query::Pipeline::Input::kRequested}) {
      run(stages, collection, minimal, input);
    }
  }
  query::UpdateParseOptions options;
  options.is_pipeline = true;
  const Result<query::Update> update = query::Update::parse(stages, options);
  Result<query::Projection> projection = query::Projection::parse(stages);
  for (const bson::Document& document : collection) {
    if (update) {
      const Result<query::Update::Applied> applied = update->apply(document);
      if (applied) check_valid(applied->document);
    }
    if (projection && !projection->needs_match()) {
      const Result<bson::View> made = projection->apply(document);
      if (made) check_valid(*made);
    }
  }
  return 0;
}
