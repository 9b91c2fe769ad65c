import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { handled } from '../../support/handled.js'
import { type Answer, createAnswerReader, NoAnswerError } from './answers.js'
import type { Exchange } from './exchanges.js'

/** The outcome of an exchange. */
export interface Outcome {
  readonly answers: readonly Answer[]
  /** A fault of the connection, apart from the answers themselves. */
  readonly fault: string | undefined
}

/** A caller, who keeps a connection for as long as the server does. */
export interface Caller {
  carryOut(exchange: Exchange): Promise<Outcome>
  hangUp(): Promise<void>
}

/** Longer than any answer may take: the host gives a request that stalls half a minute. */
const PATIENCE_MS = 45_000

export function createCaller(port: number): Caller {
  let kept: Socket | undefined
  async function open(): Promise<Socket | undefined> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    try {
      await once(socket, 'connect')
      return socket
    } catch {
      return undefined
    }
  }
  return {
    async carryOut(exchange) {
      const isNew = exchange.ending !== 'answer'
      const socket = isNew || kept === undefined || !isUsable(kept) ? await open() : kept
      if (socket === undefined) return { answers: [], fault: 'no connection' }
      const outcome = await carryOutOn(socket, exchange)
      if (isNew || outcome.fault !== undefined || isLast(outcome.answers)) await close(socket)
      else kept = socket
      return outcome
    },
    async hangUp() {
      if (kept !== undefined) await close(kept)
      kept = undefined
    },
  }
}

function isUsable(socket: Socket): boolean {
  return socket.readable && socket.writable && !socket.destroyed
}

async function close(socket: Socket): Promise<void> {
  if (socket.closed) return
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
}

async function carryOutOn(socket: Socket, exchange: Exchange): Promise<Outcome> {
  const answers: Answer[] = []
  const arriving = handled(collect(socket, exchange, answers))
  await send(socket, exchange)
  if (exchange.ending === 'leave') return { answers: [], fault: undefined }
  return { answers, fault: await arriving }
}

async function send(socket: Socket, { pieces, ending }: Exchange): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve))
    if (socket.writable) socket.write(piece)
  }
  if (ending === 'end') socket.end()
  // Sent, so that the server has something to be left with.
  if (ending === 'leave') await new Promise((resolve) => socket.write('', resolve))
}

/** Reads until there is an answer to each request, or the connection ends. Resolves with what is wrong. */
function collect(
  socket: Socket,
  { requests, ending }: Exchange,
  answers: Answer[],
): Promise<string | undefined> {
  const reader = createAnswerReader()
  const isHead = () => requests[answers.length]?.method === 'HEAD'
  return new Promise((resolve) => {
    const finish = (fault: string | undefined) => {
      clearTimeout(timer)
      socket.off('data', onData).off('close', onClose).off('error', onError)
      resolve(fault)
    }
    const timer = setTimeout(() => finish(`no answer in ${PATIENCE_MS} ms`), PATIENCE_MS)
    const onData = (part: Buffer) => {
      try {
        reader.push(part)
        for (let answer = reader.next(isHead()); answer !== undefined; answer = reader.next(isHead())) {
          answers.push(answer)
        }
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        return finish(error.message)
      }
      if (ending === 'answer' && answers.length >= requests.length)
        finish(extra(answers, requests, reader.rest()))
    }
    const onClose = () =>
      finish(ending === 'answer' ? endedEarly(answers) : reader.rest() > 0 ? 'half an answer' : undefined)
    // The close that follows tells.
    const onError = () => undefined
    socket.on('data', onData).on('close', onClose).on('error', onError)
  })
}

function extra(answers: readonly Answer[], requests: readonly unknown[], rest: number): string | undefined {
  return answers.length > requests.length || rest > 0 ? 'more answers than requests' : undefined
}

/** The server may hang up early when it says so. */
function endedEarly(answers: readonly Answer[]): string | undefined {
  return isLast(answers) ? undefined : 'hung up without an answer'
}

function isLast(answers: readonly Answer[]): boolean {
  return answers.at(-1)?.headers.get('connection') === 'close'
}
