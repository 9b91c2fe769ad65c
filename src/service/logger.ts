import { type DestinationStream, pino } from 'pino'

/**
 * Everything that a log line may have besides its time, level and fixed message. Bodies, envelopes, headers,
 * query strings, tokens, keys and error messages have no field here, and what has no field is dropped at run time.
 */
const FIELDS = [
  'requestId',
  'method',
  'route',
  'status',
  'code',
  'durationMs',
  'aborted',
  'errorName',
  'errorCode',
  'errorStack',
  'service',
  'signal',
  'port',
  'chainId',
  'blockNumber',
  'store',
  'recordId',
  'count',
  'runId',
  'job',
  'orderId',
  'attempt',
  'reason',
  'outcome',
  'exitCode',
  'digest',
  'primaryType',
  'txHash',
  'nonce',
  'node',
  'instance',
  'boot',
  'program',
] as const

type LogField = (typeof FIELDS)[number]
export type LogFields = { readonly [field in LogField]?: string | number | boolean | null | undefined }

/** `message` is a fixed sentence of the code, never built from data. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const MAX_TEXT_LENGTH = 256
const MAX_STACK_LENGTH = 2_000

const STANDARD_ERROR = 2

/**
 * Standard error, with one write for all lines of one turn of the event loop: under load a system call for each line
 * costs as much as making the line. Whatever ends the process by itself writes the last ones.
 */
function standardError(): DestinationStream {
  const file = pino.destination({ dest: STANDARD_ERROR, sync: true })
  let pending = ''
  const flush = () => {
    const lines = pending
    pending = ''
    if (lines !== '') file.write(lines)
  }
  process.on('exit', flush)
  return {
    write(line) {
      if (pending === '') setImmediate(flush)
      pending += line
    },
  }
}

/** The time as pino's `isoTime` writes it, made once for each millisecond: under load it was a third of a line's time. */
function createTimestamp(): () => string {
  let at = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== at) {
      at = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

/** JSON lines by pino, to standard error unless a destination is given: standard output is the narration's. */
export function createLogger(options: { level: LogLevel; destination?: DestinationStream }): Logger {
  const settings = { level: options.level, base: null, timestamp: createTimestamp() }
  const lines = pino(settings, options.destination ?? standardError())
  return {
    debug: (message, fields) => lines.debug(allowed(fields), message),
    info: (message, fields) => lines.info(allowed(fields), message),
    warn: (message, fields) => lines.warn(allowed(fields), message),
    error: (message, fields) => lines.error(allowed(fields), message),
  }
}

const allowedNames: ReadonlySet<string> = new Set(FIELDS)
const isField = (name: string): name is LogField => allowedNames.has(name)

/** Keeps only the allowed fields, and of those only plain values: an object could contain anything. */
function allowed(fields: LogFields = {}): Record<string, string | number | boolean | null> {
  const kept: Record<string, string | number | boolean | null> = {}
  for (const name in fields) {
    if (!isField(name)) continue
    const value: unknown = fields[name]
    if (typeof value === 'string') {
      kept[name] = value.slice(0, name === 'errorStack' ? MAX_STACK_LENGTH : MAX_TEXT_LENGTH)
    } else if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
      kept[name] = value
    }
  }
  return kept
}

/**
 * The fields of an error that may be logged: its kind, its machine-readable code and where it was thrown. Never its message:
 * messages quote requests, transactions and URLs.
 */
export function describeError(error: unknown): Pick<LogFields, 'errorName' | 'errorCode' | 'errorStack'> {
  if (!(error instanceof Error)) return { errorName: typeof error }
  const code: unknown = 'code' in error ? error.code : undefined
  return {
    errorName: word(error.name) ?? 'Error',
    errorCode: typeof code === 'number' ? code : typeof code === 'string' ? word(code) : undefined,
    errorStack: frames(error),
  }
}

function word(text: string): string | undefined {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? text : undefined
}

function frames(error: Error): string {
  const lines = (error.stack ?? '').replace(error.message, '').split('\n')
  return lines.filter((line) => /^\s+at .+(:\d+:\d+\)?|\(native\)|<anonymous>\)?)$/.test(line)).join('\n')
}
