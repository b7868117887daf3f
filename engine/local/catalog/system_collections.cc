#include "engine/local/catalog/system_collections.h"

#include "engine/bson/builder.h"

namespace gridmount::local {
namespace {

constexpr std::string_view kNamespaces = "system.namespaces";
constexpr std::string_view kIndexes = "system.indexes";
constexpr std::string_view kViews = "system.views";

bson::Document namespace_document(const CollectionMetadata& metadata) {
  bson::Builder document;
  document.append("name", metadata.ns.full());
  if (!metadata.options.view().empty()) document.append("options", metadata.options);
  return std::move(document).finish();
}

bson::Document index_namespace(const CollectionMetadata& metadata, const IndexMetadata& index) {
  bson::Builder document;
  document.append("name", metadata.ns.full() + ".$" + index.definition.name);
  return std::move(document).finish();
}

bson::Document index_document(const CollectionMetadata& metadata, const IndexMetadata& index) {
  bson::Builder document;
  const bson::Document specification = index.definition.specification();
  for (const bson::Element field : specification.view()) {
    document.append(field.key, field.value);
    if (field.key == "key") document.append("ns", metadata.ns.full());
  }
  return std::move(document).finish();
}

bson::Document view_document(const CollectionMetadata& metadata) {
  bson::Builder document;
  document.append("_id", metadata.ns.full()).append("viewOn", metadata.settings.view_on);
  document.open_array("pipeline");
  if (metadata.settings.pipeline) {
    for (const bson::Element stage : metadata.settings.pipeline->view()) document.push(stage.value);
  }
  document.close();
  return std::move(document).finish();
}

}  // namespace

bool is_catalog_collection(const engine::Namespace& ns) {
  return ns.collection == kNamespaces || ns.collection == kIndexes || ns.collection == kViews;
}

Result<std::vector<bson::Document>> catalog_documents(Catalog& catalog,
                                                      const engine::Namespace& ns) {
  GM_ASSIGN(const std::vector<engine::Namespace> names, catalog.collections(ns.database));
  std::vector<bson::Document> documents;
  for (const engine::Namespace& name : names) {
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(name));
    if (!metadata) continue;
    if (ns.collection == kViews) {
      if (metadata->settings.is_view()) documents.push_back(view_document(*metadata));
      continue;
    }
    if (ns.collection == kNamespaces) documents.push_back(namespace_document(*metadata));
    if (metadata->settings.is_view()) continue;
    for (const IndexMetadata& index : metadata->indexes) {
      documents.push_back(ns.collection == kNamespaces ? index_namespace(*metadata, index)
                                                       : index_document(*metadata, index));
    }
  }
  return documents;
}

}  // namespace gridmount::local
