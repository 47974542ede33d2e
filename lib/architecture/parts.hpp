// Small helpers that the lowering of layers and mixers share: appending tensors with their formulas.
#pragma once

#include <string>
#include <utility>

#include "mha/architecture.hpp"

namespace mha::parts {

// A matrix that each token's vector is multiplied with.
inline Tensor matrix(std::string name, Component component, std::int64_t rows, std::int64_t cols, Sharding sharding,
                     std::string formula) {
  Tensor t;
  t.name = std::move(name);
  t.component = component;
  t.rows = rows;
  t.cols = cols;
  t.product = true;
  t.sharding = sharding;
  t.formula = std::move(formula);
  return t;
}

// A bias, scale or other vector: parameters without products.
inline Tensor vector(std::string name, Component component, std::int64_t elements, Sharding sharding,
                     std::string formula) {
  Tensor t;
  t.name = std::move(name);
  t.component = component;
  t.cols = elements;
  t.sharding = sharding;
  t.formula = std::move(formula);
  return t;
}

// The work of a matrix: one multiply-add an element for each token.
inline WorkTerm product_of(const Tensor& t) {
  WorkTerm term;
  term.name = t.name;
  term.macs = t.macs();
  term.formula = t.formula;
  return term;
}

inline WorkTerm per_token(std::string name, i128 macs, std::string formula) {
  WorkTerm term;
  term.name = std::move(name);
  term.macs = macs;
  term.formula = std::move(formula);
  return term;
}

// One path that multiplies with every product tensor from `first` on, and then does `extra`.
inline Work work_of_tensors(std::string name, const std::vector<Tensor>& tensors, std::size_t first,
                            std::vector<WorkTerm> extra = {}) {
  WorkPath path{"direct", {}};
  for (std::size_t i = first; i < tensors.size(); ++i) {
    if (tensors[i].product) path.terms.push_back(product_of(tensors[i]));
  }
  for (WorkTerm& term : extra) path.terms.push_back(std::move(term));
  return Work{std::move(name), {std::move(path)}};
}

}  // namespace mha::parts
