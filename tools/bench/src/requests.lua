-- Requests for wrk. Arguments: what is sent, and the file of a résumé. The last line printed is the result, as JSON.
-- Each form has its own visitor and network address, so it reaches no limit and is no duplicate.

local random = math.random
local next_request

-- Formats requests by hand, because wrk.format takes longer than the peer's answer.
local function form(content_type)
  local head = table.concat({
    "POST " .. wrk.path .. " HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: " .. content_type,
    "X-Forwarded-For: %d.%d.%d.%d",
    "Content-Length: %d",
    "", "",
  }, "\r\n")
  return function(body)
    local address = { random(1, 223), random(0, 255), random(0, 255), random(1, 254) }
    return head:format(address[1], address[2], address[3], address[4], #body) .. body
  end
end

local function email()
  return ("ada.%d.%d@example.org"):format(random(0, 999999999), random(0, 999999999))
end

local kinds = {}

function kinds.contact()
  local post = form("application/json")
  local fields = '{"name":"Ada Lovelace","email":"%s","message":"How many forms a second?"}'
  return function() return post(fields:format(email())) end
end

function kinds.newsletter()
  local post = form("application/json")
  return function() return post(('{"email":"%s"}'):format(email())) end
end

function kinds.application(file)
  local post = form("multipart/form-data; boundary=part")
  local part = '--part\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
  local text = part:format("name", "") .. "Ada Lovelace\r\n"
    .. part:format("position", "") .. "Backend Intern\r\n"
    .. part:format("coverLetter", "") .. "Measured.\r\n"
    .. part:format("email", "")
  local resume = "\r\n" .. part:format("resume", '; filename="resume.pdf"')
    .. assert(io.open(file, "rb")):read("*a") .. "\r\n--part--\r\n"
  return function() return post(text .. email() .. resume) end
end

function kinds.page()
  local get = ("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"):format(wrk.path)
  return function() return get end
end

function init(arguments)
  local a, b, c, d = assert(io.open("/dev/urandom", "rb")):read(4):byte(1, 4)
  math.randomseed(((a * 256 + b) * 256 + c) * 256 + d)
  next_request = kinds[arguments[1]](arguments[2])
end

function request()
  return next_request()
end

function done(summary, latency)
  local errors = summary.errors
  print(('{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}'):format(
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
