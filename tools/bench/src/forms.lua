-- Forms for wrk: each from another person at another address, so that no limit of either is met.
-- The first argument is what the random choices begin with; the last line that is printed is the result, as JSON.

-- Put together by hand: wrk.format takes longer than the bare peer does to answer.
local REQUEST = table.concat({
  "POST %s HTTP/1.1",
  "Host: 127.0.0.1",
  "Content-Type: application/json",
  "X-Forwarded-For: %d.%d.%d.%d",
  "Content-Length: %d",
  "",
  "%s",
}, "\r\n")
local FORMS = {
  ["/api/contact"] = '{"name":"Ada Lovelace","email":"ada.%d.%d@example.org","message":"How many forms a second?"}',
  ["/api/newsletter"] = '{"email":"ada.%d.%d@example.org"}',
}
local random = math.random

function init(arguments)
  math.randomseed(tonumber(arguments[1]))
end

function request()
  local form = FORMS[wrk.path]:format(random(0, 999999999), random(0, 999999999))
  return REQUEST:format(
    wrk.path, random(1, 223), random(0, 255), random(0, 255), random(1, 254), #form, form)
end

function done(summary, latency)
  local errors = summary.errors
  print(('{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"p999":%d,"refused":%d,"broken":%d}'):format(
    summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
