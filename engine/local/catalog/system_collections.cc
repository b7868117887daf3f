#include "engine/local/catalog/system_collections.h"

#include "engine/bson/builder.h"

namespace gridmount::local {
namespace {

constexpr std::string_view kNamespaces = "system.namespaces";
constexpr std::string_view kIndexes = "system.indexes";
constexpr std::string_view kViews = "system.views";

bson::Document namespace_document(const CollectionEntry& entry) {
  bson::Builder document;
  document.append("name", entry.ns.full());
  if (!entry.options.view().empty()) document.append("options", entry.options);
  return std::move(document).finish();
}

bson::Document index_namespace(const CollectionEntry& entry, const IndexEntry& index) {
  bson::Builder document;
  document.append("name", entry.ns.full() + ".$" + index.definition.name);
  return std::move(document).finish();
}

bson::Document index_document(const CollectionEntry& entry, const IndexEntry& index) {
  bson::Builder document;
  const bson::Document specification = index.definition.specification();
  for (const bson::Element field : specification.view()) {
    document.append(field.key, field.value);
    if (field.key == "key") document.append("ns", entry.ns.full());
  }
  return std::move(document).finish();
}

bson::Document view_document(const CollectionEntry& entry) {
  bson::Builder document;
  document.append("_id", entry.ns.full()).append("viewOn", entry.settings.view_on);
  document.open_array("pipeline");
  if (entry.settings.pipeline) {
    for (const bson::Element stage : entry.settings.pipeline->view()) document.push(stage.value);
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
    GM_ASSIGN(const std::shared_ptr<const CollectionEntry> entry, catalog.find(name));
    if (!entry) continue;
    if (ns.collection == kViews) {
      if (entry->settings.is_view()) documents.push_back(view_document(*entry));
      continue;
    }
    if (ns.collection == kNamespaces) documents.push_back(namespace_document(*entry));
    if (entry->settings.is_view()) continue;
    for (const IndexEntry& index : entry->indexes) {
      documents.push_back(ns.collection == kNamespaces ? index_namespace(*entry, index)
                                                       : index_document(*entry, index));
    }
  }
  return documents;
}

}  // namespace gridmount::local
