import type { Failure } from './failure.js'
import { type Block, printable, renderBlocks } from './render.js'

/** A command's result, in a form for programs and one for people. */
export interface Report {
  /** Stable fields. A bigint is printed as a decimal string: amounts are in base units, as in the HTTP API. */
  readonly json: unknown
  readonly blocks: readonly Block[]
}

export interface ErrorStream {
  write(text: string): unknown
}

export interface OutStream extends ErrorStream {
  /** Whether a person reads it. */
  readonly isTTY?: boolean
}

/** Results on standard output; progress and failures on standard error. */
export function createTerminal({
  name,
  json,
  quiet,
  out,
  err,
}: {
  /** The program's. */
  readonly name: string
  readonly json: boolean
  readonly quiet: boolean
  readonly out: OutStream
  readonly err: ErrorStream
}) {
  const style = out.isTTY ? 'people' : 'plain'
  return {
    json,
    /** With `--json` one line of JSON. */
    result(report: Report): void {
      const text = json ? JSON.stringify(report.json, bigintAsText) : renderBlocks(report.blocks, style)
      if (text !== '') out.write(`${text}\n`)
    },
    /** The text of a file, as it is. */
    document(text: string): void {
      out.write(text)
    },
    /** Progress of the command. Silent with `--quiet`. */
    progress(line: string): void {
      if (!quiet) err.write(`${printable(line)}\n`)
    },
    failure({ exit: _, ...failure }: Failure): void {
      const { code, message, faults = [], remedy, requestId } = failure
      const request = requestId === null ? '' : ` [request ${requestId}]`
      const lines = [
        `${name}: ${message} (${code})${request}`,
        ...[...faults, remedy ?? []].flat().map((line) => `  ${line}`),
      ]
      const text = json ? JSON.stringify({ error: failure }) : lines.map(printable).join('\n')
      err.write(`${text}\n`)
    },
  }
}

/** JSON has no integers of the size of amounts. */
const bigintAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

export type Terminal = ReturnType<typeof createTerminal>
