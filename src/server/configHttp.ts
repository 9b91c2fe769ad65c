import { LOG_LEVELS } from '../service/logger.js'
import { duration, host, integer, logLevel, origin } from './configValues.js'
import { optional, required, withDefault } from './configVariable.js'

const KIBIBYTE = 1_024

/** How the server is reached, and what it bears. */
export const httpVariables = {
  PORT: withDefault(integer(0, 65_535), {
    section: 'HTTP',
    about: 'Port that the API listens on; 0 takes any free one.',
    fallback: '8000',
  }),
  HOST: optional(host(), { about: 'Address to listen on; unset: every interface.' }),
  FRONTEND_ORIGIN: required(origin(), {
    about: 'The one origin whose pages may call the API.',
    example: 'http://localhost:5173',
  }),
  TRUST_PROXY: withDefault(integer(0, 16), {
    about:
      "Number of reverse proxies in front, whose X-Forwarded-For tells a client's address; their connections are shared by clients.",
    fallback: '0',
  }),
  BODY_LIMIT_BYTES: withDefault(integer(KIBIBYTE, 1_024 * KIBIBYTE), {
    about: 'Longest request body; /relay has a limit of its own.',
    fallback: String(64 * KIBIBYTE),
  }),
  RATE_LIMIT_PER_MINUTE: withDefault(integer(1, 1_000_000_000), {
    about:
      'Requests that one client may make in a minute; probes of /health as many again, those that show the relay token any number.',
    fallback: '600',
  }),
  HEADERS_TIMEOUT: withDefault(duration(), {
    about: "Time that a request's headers may take to arrive.",
    fallback: '10s',
  }),
  REQUEST_TIMEOUT: withDefault(duration(), {
    about: 'Time that a whole request may take to arrive.',
    fallback: '30s',
  }),
  ANSWER_TIMEOUT: withDefault(duration(), {
    about: 'Time in which nothing of an answer is taken by its reader before the connection is closed.',
    fallback: '30s',
  }),
  KEEP_ALIVE_TIMEOUT: withDefault(duration(), {
    about: "Time that a connection may rest between two requests; longer than a reverse proxy's own.",
    fallback: '65s',
  }),
  MAX_CONNECTIONS: withDefault(integer(1, 1_000_000), {
    about: 'Connections held at once; further ones are closed.',
    fallback: '10000',
  }),
  MAX_CONNECTIONS_PER_CLIENT: withDefault(integer(1, 1_000_000), {
    about:
      'Of those, held by one client; further ones are closed. Behind a proxy (TRUST_PROXY) it does not apply.',
    fallback: '128',
  }),
  MAX_WAIT: withDefault(duration(), {
    about:
      "Time that a request may wait for the process's attention before it is refused with 503 overloaded.",
    fallback: '50ms',
  }),
  MAX_UNDER_WAY: withDefault(integer(1, 1_000_000), {
    about: 'Requests of clients under way at once, GETs nine tenths of it; others get 503 overloaded.',
    fallback: '300',
  }),
  MAX_UNDER_WAY_PER_CLIENT: withDefault(integer(1, 1_000_000), {
    about: 'Of those, of one client; others get 429 too-many-at-once.',
    fallback: '32',
  }),
  SHUTDOWN_TIMEOUT: withDefault(duration(), {
    about: 'Time that requests under way get to finish after SIGTERM or SIGINT.',
    fallback: '10s',
  }),
  OPS_PORT: withDefault(integer(0, 65_535), {
    about: "Port of the operator's own endpoints, /livez, /readyz and /metrics; 0 takes any free one.",
    fallback: '8001',
  }),
  OPS_HOST: withDefault(host(), {
    about: 'Address that those listen on. They ask for no token: keep it where only your monitoring is.',
    fallback: '127.0.0.1',
  }),
  LOG_LEVEL: withDefault(logLevel(), {
    about: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    fallback: 'info',
  }),
}
