import { z } from 'zod'
import { command, duration, host, integer, logLevel, runSecret, runUrl } from '../server/configValues.js'
import { optional, required, withDefault } from '../server/configVariable.js'
import { LOG_LEVELS } from '../service/logger.js'

/** Every variable of the host, in the order of `.env.host.example`. Others in the environment are ignored. */
export const environmentSchema = z.object({
  PORT: withDefault(integer(0, 65_535), {
    section: 'HTTP',
    about: 'Port that jobs are posted to; 0 takes any free one.',
    fallback: '8700',
  }),
  HOST: withDefault(host(), {
    about:
      'Address to listen on. What other machines reach must be behind TLS: the server posts to https alone.',
    fallback: '127.0.0.1',
  }),
  LOG_LEVEL: withDefault(logLevel(), {
    about: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    fallback: 'info',
  }),
  SERVER_URL: required(runUrl(), {
    section: 'The server whose jobs are run',
    about: 'Base URL that results are posted to, over https unless it is this machine.',
    example: 'http://127.0.0.1:8000',
  }),
  ENCLAVE_TRIGGER_SECRET: required(runSecret(), {
    about: "The server's ENCLAVE_TRIGGER_SECRET (echo whsec_$(openssl rand -base64 32)).",
    example: '',
  }),
  ENCLAVE_COMMAND: optional(command(), {
    section: 'Enclave',
    about: 'Program and arguments of the enclave, or a JSON array of them; unset: the bundled enclave.',
  }),
  ENCLAVE_ENV_FILE: withDefault(z.string(), {
    about: "The enclave's own configuration. The host hands its path on and never reads it.",
    fallback: './.env.enclave',
  }),
  MAX_RUNS: withDefault(integer(1, 1_000), {
    about: "Runs at the same time: the server's ENCLAVE_MAX_RUNS and four more, at least.",
    fallback: '16',
  }),
  DATA_DIR: withDefault(z.string(), {
    about: 'Directory that remembers runs, so that none is started twice; one host per directory.',
    fallback: './data/host',
  }),
  SHUTDOWN_TIMEOUT: withDefault(duration(), {
    about: 'Time that requests under way get to finish after SIGTERM or SIGINT. Runs go on.',
    fallback: '10s',
  }),
})
