/** The relayer's account has no usable key. The message is for whoever starts the server, and names no secret. */
export class RelayerKeyError extends Error {
  override readonly name = 'RelayerKeyError'
}
