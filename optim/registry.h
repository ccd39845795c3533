#pragma once
// Rules, gates and codecs by name: `dc-asgd-a:lambda=1,mean-square=worker`. A new one is a line in registry.cpp.

#include "framework/core/spec.h"
#include "optim/compress/codec.h"
#include "optim/rule.h"

namespace tg {

const std::vector<SpecInfo>& rule_infos();
// Throws Error for an option's value that the rule does not take.
std::unique_ptr<Rule> make_rule(const Spec& spec);

// Gates that may take the place of a rule's own.
const std::vector<SpecInfo>& gate_infos();
std::unique_ptr<Gate> make_gate(const Spec& spec);

const std::vector<SpecInfo>& codec_infos();
std::unique_ptr<Codec> make_codec(const Spec& spec, const Layout& layout);

}  // namespace tg
