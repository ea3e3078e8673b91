-- SPDX-License-Identifier: GPL-2.0-or-later
-- Recursion of lua's C functions, and calls that errors and yields end: for a comparison of call
-- paths by two counts of the same run. The last line of its output is "OK".

-- Recursion through the interpreter: the call loop, metamethods, sort's comparison.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
assert(fib(15) == 610 and ackermann(2, 5) == 13)
local chain = {last = 1}
for _ = 1, 30 do
  local inner = chain
  chain = setmetatable({}, {
    __index = function(_, key) return inner[key] end,
    __add = function(a, b) return b end,
    __concat = function(_, b) return b .. tostring(inner.last) end,
    __lt = function() return inner.last == 1 end,
    __tostring = function() return "t" .. tostring(inner) end,
  })
end
assert(chain.last == 1 and chain .. "x" == "x1" and chain < {} and chain + 7 == 7)
assert(tostring(chain):match("^t+"):len() >= 30)
local words, seed = {}, 1
for i = 1, 600 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  words[i] = string.format("%08x", seed)
end
table.sort(words)
table.sort(words, function(a, b) return a:reverse() < b:reverse() end)
assert(not pcall(table.sort, {3, 1, 2, 5, 4, 6}, function() return true end) or true)
assert(not pcall(table.sort, {1, 2, {}}))

-- Recursion of the parser, to its limit too.
for _, depth in ipairs{1, 2, 10, 100, 190, 300} do
  local text = "return " .. ("("):rep(depth) .. "1" .. (")"):rep(depth)
  assert((load(text) ~= nil) == (depth < 195))
  load("return " .. ("{"):rep(depth) .. ("}"):rep(depth))
  load(("do "):rep(depth) .. ("end "):rep(depth))
  load("return " .. ("function() return "):rep(depth) .. "1" .. (" end"):rep(depth))
end
assert(load("local a <const> = 1; return -a ^ 2 .. 3 << 1 | 7 & (not a and 1 or 2)"))
assert(not load("return 1 +") and not load("goto nowhere") and not load("x = = 2"))

-- Recursion of pattern matching.
local text = ("The Quick brown foX (jumps (over) the) lazy %dog. "):rep(20)
assert(text:lower():upper() == text:upper())
assert(text:find("(%u%l+)%s(%u%l+).-(%b())") and text:match("^(.-)%%d"))
assert(select(2, text:gsub("%f[%a]%a+%f[%A]", string.upper)) == 180)
assert(text:gsub("(%w+) (%w+)", "%2 %1") and text:gsub("[^%l%s]", {Q = "q"}))
assert(("x"):rep(100):match("x*x*x-$") and not ("x"):rep(60):find(".-.-.-y"))
assert(not pcall(string.rep, "x", -1, {}) and not pcall(string.find, "a", "[a"))
assert(not pcall(string.find, ("x"):rep(300), ("x?"):rep(300) .. ("("):rep(40)))
for word in text:gmatch("%a+") do assert(#word > 0) end
local nest = 0
local function again(s)
  nest = nest + 1
  if nest < 60 then return (s:gsub(".", again)) end
  error("deep")
end
assert(not pcall(again, "a"))

-- Errors: through C functions, in handlers, at the limits of both stacks, in what is closed.
local function thrower(n)
  if n == 0 then error({}) end
  return (select(2, pcall(thrower, n - 1)))
end
for n = 0, 20 do pcall(thrower, n) end
assert(not xpcall(error, function(e) return e .. nil end, "x"))
assert(not pcall(function() local function f() return 1 + f() end return f() end))
local function c_stack() return tostring(setmetatable({}, {__tostring = c_stack})) end
assert(not pcall(c_stack))
local function gsub_stack() return (("a"):gsub("a", gsub_stack)) end
assert(not pcall(gsub_stack))
for i = 1, 100 do
  local ok = pcall(function()
    local a <close> = setmetatable({}, {__close = function() if i % 3 == 0 then error("a") end end})
    local b <close> = setmetatable({}, {__close = function(_, e) pcall(error, e) end})
    if i % 2 == 0 then error("even") end
    return words[i]:upper()
  end)
  assert(ok == (i % 2 ~= 0 and i % 3 ~= 0))
end
for _ = 1, 20 do setmetatable({}, {__gc = function() error("gc") end}) end
collectgarbage()

-- Coroutines: in each other, through pcall and metamethods, left, closed and failed.
local function tree(n)
  return coroutine.wrap(function()
    if n > 0 then for v in tree(n - 1) do coroutine.yield(v) end end
    coroutine.yield(n)
    if n > 0 then for v in tree(n - 1) do coroutine.yield(v) end end
  end)
end
local sum = 0
for v in tree(7) do sum = sum + v end
assert(sum == 247)
local function nested(n)
  local co = coroutine.create(function() return nested(n + 1) end)
  local ok, e = coroutine.resume(co)
  if not ok then error(e, 0) end
  return e
end
assert(not pcall(nested, 1))
for i = 1, 50 do
  local co = coroutine.create(function(a)
    local ok, e = pcall(function()
      local t = setmetatable({}, {__index = function(_, k) return coroutine.yield(k) end})
      local _ <close> = setmetatable({}, {__close = function() if i % 5 == 0 then coroutine.yield(0) end end})
      if i % 2 == 0 then error(t.key) end
      return t.other
    end)
    table.sort({3, 2, 1}, function(x, y) return pcall(coroutine.yield) or x < y end)
    return ok
  end)
  coroutine.resume(co, i)
  if i % 3 == 0 then coroutine.close(co) else
    while coroutine.status(co) == "suspended" do coroutine.resume(co, i) end
  end
  assert(coroutine.status(co) == "dead")
end
print("OK")
