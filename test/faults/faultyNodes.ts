import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Transaction } from 'ethers'
import { startHttpServer } from '../support/httpServer.js'
import { type Call, callsSchema, createTrueNode } from './node.js'
import type { Fault, KindOf } from './plan.js'
import { applies, createSpells, faithful, type Reply, TREATMENTS } from './treatments.js'

type Due<P extends 'read' | 'send' | 'spell'> = Pick<Fault, 'amount'> & { readonly kind: KindOf<P> }

/**
 * Nodes between the servers and the real node. A fault strikes the node that is asked next.
 * @param leaves is given each transaction that a server has sent, before the node hears of it
 */
export async function startFaultyNodes(
  target: string,
  count: number,
  leaves: (transaction: Transaction) => void,
) {
  const due: { read: Due<'read'>[]; send: Due<'send'>[]; spell: Due<'spell'>[] } = {
    read: [],
    send: [],
    spell: [],
  }
  const struck: string[] = []
  const node = createTrueNode(target)

  /** Takes the first fault that would make a difference. */
  function take<P extends 'read' | 'send' | 'spell'>(
    part: P,
    queue: Due<P>[],
    differs: (kind: KindOf<P>) => boolean = () => true,
  ): Due<P> | undefined {
    const index = queue.findIndex(({ kind }) => differs(kind))
    const [fault] = index < 0 ? [] : queue.splice(index, 1)
    if (fault !== undefined) struck.push(`${part} ${fault.kind}`)
    return fault
  }

  function treat(calls: readonly Call[], isSend: boolean): Promise<Reply> {
    const fault = isSend ? take('send', due.send) : take('read', due.read, (kind) => applies(kind, calls))
    return fault === undefined ? faithful(node, calls) : TREATMENTS[fault.kind](node, calls, fault.amount)
  }

  async function startNode() {
    const spells = createSpells(() => take('spell', due.spell))

    async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const calls = callsSchema.parse(JSON.parse(await text(request)))
      const transactions = transactionsIn(calls)
      for (const transaction of transactions) leaves(transaction)
      const isSend = transactions.length > 0
      give(await (spells.treat(node, calls, isSend) ?? treat(calls, isSend)), request, response)
    }

    const server = await startHttpServer((request, response) => {
      void handle(request, response).catch(() => request.socket.destroy())
    })
    return { ...server, calm: spells.end }
  }

  const nodes = await Promise.all(Array.from({ length: count }, startNode))
  return {
    urls: nodes.map(({ url }) => url),
    strike: {
      read: (fault: Due<'read'>) => void due.read.push(fault),
      send: (fault: Due<'send'>) => void due.send.push(fault),
      spell: (fault: Due<'spell'>) => void due.spell.push(fault),
    },
    /** The faults that struck. */
    struck: (): readonly string[] => struck,
    /** Whether a fault waits for its occasion. */
    isWaiting: () => due.read.length + due.send.length + due.spell.length > 0,
    /** Passes the real node's answers on unchanged from now on. */
    calm(): void {
      for (const queue of Object.values(due)) queue.length = 0
      for (const one of nodes) one.calm()
    },
    async stop() {
      await Promise.all(nodes.map(({ stop }) => stop()))
    },
  }
}

function transactionsIn(calls: readonly Call[]): Transaction[] {
  return calls
    .filter(({ method }) => method === 'eth_sendRawTransaction')
    .map(({ params }) => Transaction.from(String(params[0])))
}

function give(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply === 'silence') return
  if (reply === 'cut') {
    request.socket.destroy()
    return
  }
  response.setHeader('content-type', 'application/json')
  response.statusCode = reply.status
  response.end(reply.body)
}
