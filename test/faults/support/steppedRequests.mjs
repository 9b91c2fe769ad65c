// Steps of a process around its POST requests by `node:http`.
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

/** @param stepsOf names the steps before a request leaves, and once its answer has begun */
export function stepRequests(stepsOf, reached) {
  const { request } = http
  http.request = (...args) => {
    const sent = request(...args)
    const { end } = sent
    sent.end = (body, ...rest) => {
      if (sent.method === 'POST') {
        const { before, after } = stepsOf(sent, body)
        if (before !== undefined) reached(before)
        if (after !== undefined) sent.prependOnceListener('response', () => reached(after))
      }
      return end.call(sent, body, ...rest)
    }
    return sent
  }
  syncBuiltinESMExports()
}
