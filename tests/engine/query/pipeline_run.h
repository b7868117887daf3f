// Runs pipelines over collections in memory, for tables of cases. The store may apply more or less
// of a pipeline itself (Pipeline::Input), and may return only the requested fields. Every pipeline
// runs in all these ways, and all must give the same result.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/query/fake_pipeline_storage.h"

namespace gridmount::query {

struct PipelineRun {
  FakePipelineStorage& storage;
  std::string collection = "c";
  // The variables by name, as in a command's `let`.
  std::string variables = "{}";
  uint64_t memory_bytes_max = uint64_t{100} << 20;
  uint64_t random_seed = 1;

  static bson::Document parse_stages(const std::string& stages) {
    return parse_json("{'p': " + stages + "}");
  }

  Result<Pipeline> parse(bson::View stages, VariableScope& scope) const {
    const bson::Document values = parse_json(variables);
    for (const bson::Element variable : values.view()) {
      GM_TRY(scope.declare(variable.key));
    }
    return Pipeline::parse(stages, scope, {!collection.empty(), true});
  }

  Result<FakePipelineStorage::Documents> run(bson::View stages, Pipeline::Input input) const {
    VariableScope scope;
    GM_ASSIGN(const Pipeline pipeline, parse(stages, scope));
    const bson::Document values = parse_json(variables);
    PipelineContext context{storage, {"", collection}, {1000}, {}, memory_bytes_max, random_seed};
    for (const bson::Element variable : values.view()) {
      context.variables.emplace_back(variable.value);
    }
    std::unique_ptr<DocumentStream> source;
    if (pipeline.reads_input()) {
      FindRequest request;
      if (input == Pipeline::Input::kRequested) request = pipeline.request();
      if (input != Pipeline::Input::kEverything) {
        request.filter =
            pipeline.source_filter(context.variables, context.now, context.collator.get());
      }
      request.fields = pipeline.request().fields;
      GM_ASSIGN(source, storage.find({"", collection}, request));
    }
    GM_ASSIGN(const std::unique_ptr<DocumentStream> stream,
              pipeline.run(std::move(source), context, input));
    FakePipelineStorage::Documents results;
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, stream->next());
      if (!document) break;
      EXPECT_TRUE(bson::validate(document->bytes(), UINT32_MAX));
      results.emplace_back(*document);
    }
    GM_ASSIGN(const std::optional<bson::View> after_the_end, stream->next());
    EXPECT_FALSE(after_the_end);
    return results;
  }

  // Returns the results as text, or "code: message". The results of all ways must agree.
  std::string shown(const std::string& stages) const {
    const bson::Document parsed = parse_stages(stages);
    const bson::View array = parsed.view()["p"].as_document();
    std::optional<std::string> first;
    for (const bool minimal : {false, true}) {
      storage.minimal = minimal;
      for (const auto input : {Pipeline::Input::kEverything, Pipeline::Input::kFiltered,
                               Pipeline::Input::kRequested}) {
        const Result<FakePipelineStorage::Documents> results = run(array, input);
        std::string text = results ? FakePipelineStorage::show_all(*results)
                                   : std::to_string(static_cast<int>(results.error().code())) +
                                         ": " + results.error().message();
        // Messages that show a document show the fields that were read.
        text.resize(std::min(text.size(), text.find(" Input document: ")));
        if (!first) first = text;
        EXPECT_EQ(text, *first) << stages << " asked " << (minimal ? "for its fields" : "for all")
                                << " in way " << static_cast<int>(input);
      }
    }
    return *first;
  }
};

// `expected` is an array of documents.
inline std::string show_expected(const std::string& expected) {
  FakePipelineStorage storage;
  storage.set("x", expected);
  return storage.shown("x");
}

struct PipelineCase {
  std::string stages;
  std::string results;
};

inline void expect_results(const PipelineRun& run, const std::vector<PipelineCase>& cases) {
  for (const PipelineCase& c : cases) {
    EXPECT_EQ(run.shown(c.stages), show_expected(c.results)) << c.stages;
  }
}

struct PipelineRefusal {
  std::string stages;
  int code;
  std::string message;
};

inline void expect_refused(const PipelineRun& run, const std::vector<PipelineRefusal>& refusals) {
  for (const PipelineRefusal& refusal : refusals) {
    const std::string text = run.shown(refusal.stages);
    EXPECT_TRUE(text.starts_with(std::to_string(refusal.code) + ": "))
        << refusal.stages << ": " << text;
    EXPECT_NE(text.find(refusal.message), std::string::npos) << refusal.stages << ": " << text;
  }
}

}  // namespace gridmount::query
