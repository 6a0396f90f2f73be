/** The path of the specification, and the one of the public documentation (api-facts 3.1). */
export const AUTO_PATHS = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;
