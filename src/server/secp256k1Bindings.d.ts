/** What is used of the native part of the package `secp256k1`, which brings no types. */
declare module 'secp256k1/bindings.js' {
  const binding: {
    /** @param signature `r ‖ s` @throws when there is no such key */
    ecdsaRecover(
      signature: Uint8Array,
      recoveryId: number,
      digest: Uint8Array,
      compressed: boolean,
    ): Uint8Array
    /** Deterministic (RFC 6979), low-s. */
    ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
    /** Whether 33 or 65 bytes are a point on the curve; hybrid forms count. */
    publicKeyVerify(key: Uint8Array): boolean
  }
  export default binding
}
