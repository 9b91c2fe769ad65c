import type { Answer } from './answers.js'
import type { Service } from './apiRoutes.js'
import type { Outcome } from './connection.js'
import type { Exchange } from './exchanges.js'
import { createJudge, type Judge } from './judge.js'
import type { WireRequest } from './wire.js'

/** Counts what was sent and what came back. */
export interface Tally {
  sent(exchange: Exchange): void
  came(exchange: Exchange, outcome: Outcome): void
  requests(): number
  /** The same for each service. */
  requestsTo(): Readonly<Record<Service, number>>
  exchanges(): number
  answers(): Record<string, number>
  /** Each kind once, with its first request and how often it came. */
  violations(): string[]
}

const SHOWN = 600

export function createTally(): Tally {
  const judges: Readonly<Record<Service, Judge>> = {
    server: createJudge('server'),
    enclave: createJudge('enclave'),
  }
  const counts = new Map<string, number>()
  const wrong = new Map<string, { readonly example: string; times: number }>()
  const requests: Record<Service, number> = { server: 0, enclave: 0 }
  let exchanges = 0

  function note(fault: string | undefined, { to, kind, pieces }: Exchange, request?: WireRequest): void {
    if (fault === undefined) return
    const found = wrong.get(fault)
    if (found !== undefined) found.times++
    else wrong.set(fault, { example: `${to}, ${kind}: ${exampleOf(pieces, request)}`, times: 1 })
  }

  return {
    sent(exchange) {
      exchanges++
      requests[exchange.to] += Math.max(1, exchange.requests.length)
    },
    came(exchange, { answers, fault }) {
      const judge = judges[exchange.to]
      note(fault, exchange)
      for (const [index, answer] of answers.entries()) {
        const name = nameOf(answer, exchange.to)
        counts.set(name, (counts.get(name) ?? 0) + 1)
        note(judge(answer, exchange.requests[index]), exchange, exchange.requests[index])
      }
    },
    requests: () => requests.server + requests.enclave,
    requestsTo: () => ({ ...requests }),
    exchanges: () => exchanges,
    answers: () => Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    violations: () => [...wrong].map(([fault, { example, times }]) => `${times} x ${fault}: ${example}`),
  }
}

/** The status, and a problem's code; of the enclave, that it is. */
function nameOf({ status, body }: Answer, from: Service): string {
  const code = status < 400 ? undefined : /"code":"([a-z-]+)"/.exec(body)?.[1]
  const name = code === undefined ? `${status}` : `${status} ${code}`
  return from === 'enclave' ? `enclave ${name}` : name
}

function exampleOf(pieces: readonly Buffer[], request: WireRequest | undefined): string {
  const text = request ? `${request.method} ${request.target} ${JSON.stringify(request.headers)}` : ''
  const bytes = Buffer.concat([...pieces]).toString('latin1')
  return JSON.stringify(`${text} ${bytes}`.slice(0, SHOWN))
}
