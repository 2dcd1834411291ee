"""The baseline of the HTTP benchmark: a server that FastMCP makes of the service's own OpenAPI document.

Arguments: the service's address without version prefix, an API key. It prints its own address.
"""

import socket
import sys

import anyio
import httpx2 as httpx
import uvicorn
from fastmcp import FastMCP


async def main(root: str, key: str) -> None:
    """Serves until killed."""
    async with httpx.AsyncClient(base_url=root, headers={"Authorization": f"Bearer {key}"}) as client:
        document = (await client.get(f"{root}/openapi.json")).json()
        server = FastMCP.from_openapi(openapi_spec=document, client=client, name="baseline")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
            config = uvicorn.Config(server.http_app(), log_level="error", lifespan="on")
            await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
