/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gcc: the compiler's headers that the plugin needs, in the required order. The standard library
 * comes first, since the compiler's headers forbid some of its names.
 */
#ifndef ASSAY_PLUGIN_GCC_H
#define ASSAY_PLUGIN_GCC_H

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "tree.h"
#include "stringpool.h"
#include "attribs.h"
#include "basic-block.h"
#include "cgraph.h"
#include "context.h"
#include "diagnostic-core.h"
#include "diagnostic.h"
#include "function.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimple-ssa.h"
#include "langhooks.h"
#include "opts.h"
#include "output.h"
#include "print-tree.h"
#include "ssa.h"
#include "ssa-iterators.h"
#include "tree-cfg.h"
#include "tree-cfgcleanup.h"
#include "tree-eh.h"
#include "tree-into-ssa.h"
#include "tree-iterator.h"
#include "tree-nested.h"
#include "tree-pass.h"
#include "tree-ssa-operands.h"
#include "toplev.h"

#endif
