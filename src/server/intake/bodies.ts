import { postOrderSchema } from '../../protocol/api.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { type IsPoint, receivedPointSchema } from './curvePoint.js'

/** The body of `POST /orders` as the server checks it. */
export function receivedOrderSchema(isPoint: IsPoint) {
  return postOrderSchema.extend({ epk: receivedPointSchema(isPoint) })
}

/** The body of `POST /policy` as the server checks it. */
export function receivedPolicySchema(isPoint: IsPoint) {
  return postPolicySchema.extend({ epk: receivedPointSchema(isPoint) })
}
