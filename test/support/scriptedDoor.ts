import { buffer } from 'node:stream/consumers'
import { claimedRunMessage, isRunMessageSigned } from '../../src/protocol/runMessage.js'
import { startRawServer } from './rawServer.js'
import { RUN_SECRET } from './serverEnvironment.js'

/**
 * Its reaction to one offer: it answers with this status, takes the job and names its boot, takes the request and cuts the connection,
 * or redirects.
 */
export type DoorStep =
  | number
  | 'lose'
  | 'redirect'
  | { readonly instance: string; readonly boot: number; readonly result: 'accepted' | 'already-accepted' }

/**
 * An HTTP server in the place of an enclave's door, which answers offers as told and runs nothing.
 * @param steps one for each offer; the last one repeats
 */
export async function startScriptedDoor(steps: DoorStep[]) {
  /** Each offer's body and whether its signature holds, oldest first. */
  const offers: { body: Record<string, unknown>; isSigned: boolean }[] = []
  const url = await startRawServer((req, res) => {
    // The server's readiness asks whether it is up.
    if (req.method === 'GET') return void res.writeHead(200).end('{}')
    void buffer(req).then((bytes) => {
      const body = bytes.toString('utf8')
      const claimed = claimedRunMessage('job', req.headers)
      offers.push({
        body: JSON.parse(body),
        isSigned: claimed !== undefined && isRunMessageSigned(RUN_SECRET, claimed, body),
      })
      const step = steps[Math.min(offers.length, steps.length) - 1] ?? 202
      if (step === 'lose') req.socket.destroy()
      else if (step === 'redirect') res.writeHead(307, { location: `${url}/elsewhere` }).end()
      else if (typeof step === 'object')
        res.writeHead(202).end(JSON.stringify({ ...step, runId: claimed?.runId }))
      else res.writeHead(step, step === 429 ? { 'retry-after': '1' } : {}).end()
    })
  })
  return { url, offers }
}
