// The part of a report that says how a job stands to a profile.
//
//   Expectations of dgx-h100
//     met      network: IB (16 selections)
//     broken   gpudirect: true, but rank 3 -> rank 11 via NET/IB/3 (2 of 64 connections)
//     unknown  nvls: true; no line says whether NVLink SHARP can be used

#pragma once

#include <string>

#include "report/text_layout.h"
#include "rules/profile.h"

namespace ncclog {

/// "hosts: 2 (2 hosts)", "network: IB, but network Socket", "nvls: true; no line says …". May hold
/// any bytes.
std::string expectation_words(const CheckedExpectation& expectation);

/// The part, with the empty line in front of it; ends with a newline.
std::string profile_text(const CheckedProfile& profile, const TextStyle& style);

}  // namespace ncclog
