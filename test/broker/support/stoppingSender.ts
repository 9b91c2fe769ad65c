// A process that places one order and stops itself on the way, as a suspended machine would.
// Arguments: the broker's URL, the point at which it stops, how old its look at the chain may be (ms).
import { writeSync } from 'node:fs'
import { ClientRequest } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSharedBroker } from '../../../src/broker/index.js'

const [url = '', point = '', boundText = ''] = process.argv.slice(2)

function pass(here: string): void {
  if (here !== point) return
  writeSync(1, 'stopping\n')
  process.kill(process.pid, 'SIGSTOP')
}

// Before the listeners of the code under test.
const connect = Socket.prototype.connect
Socket.prototype.connect = function (this: Socket, ...args: Parameters<typeof connect>) {
  pass('connecting')
  this.prependOnceListener('lookup', () => pass('resolved'))
  this.prependOnceListener('connect', () => pass('connected'))
  this.prependOnceListener('secureConnect', () => pass('secured'))
  return connect.apply(this, args)
} as typeof connect
const emit = ClientRequest.prototype.emit
ClientRequest.prototype.emit = function (this: ClientRequest, ...args: Parameters<typeof emit>) {
  if (args[0] === 'socket') pass('assigned')
  return emit.apply(this, args)
} as typeof emit

const keys = { keyId: 'key', secretKey: 'secret' }
const broker = createSharedBroker({ tradingUrl: url, dataUrl: url, ...keys, timeoutMs: 10_000 })
if (point.startsWith('warm ')) {
  // The connection stands already.
  await broker.getAsset('AAPL')
}
const placement = await broker.reserve({ account: 'a', openedAt: 1, withinMs: 10_000 })
pass('granted')
await nextTurn()
const lookedAt = Date.now()
await nextTurn()
pass('looked')
pass('warm looked')
try {
  const sending = placement?.send(
    { symbol: 'AAPL', side: 'buy', notional: 500_000_000n, clientOrderId: 'order' },
    {
      beforeSend() {
        if (Date.now() - lookedAt > Number(boundText)) throw new Error('too late')
      },
    },
  )
  pass('asked')
  await sending
  writeSync(1, 'sent\n')
} catch (error) {
  writeSync(1, `${error instanceof Error ? error.message : 'failed'}\n`)
}
process.exit(0)
