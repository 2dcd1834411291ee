"""A service with an organization of real money, whose top-ups go through the imitation of Stripe."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from anyio import to_thread

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service.payments import reconciliation
from callwright.service.settings import PaymentSettings, ServiceSettings
from tests.support.http.raw_requests import Response, raw_client
from tests.support.processes.programs import run
from tests.support.service import BASE_URL, Tenant, open_service
from tests.support.stripe.imitation import SECRET_KEY, WEBHOOK_SECRET, Stripe, imitated, signature

PUBLIC_URL = "https://voice.example.com"
WEBHOOK = "/payments/stripe/webhook"
ORGANIZATION = "acme"


@dataclass(frozen=True)
class Paying:
    """The service, the account at Stripe, and a client of the organization with real money.

    `home` is the folder of commands, `settings` are their variables.
    """

    tenant: Tenant
    stripe: Stripe
    client: Client
    home: Path
    settings: Mapping[str, str]

    async def command(self, *words: str, **changed: str) -> CompletedProcess[str]:
        """A command beside the service, with further variables."""
        place = ("--data", str(self.home / "data"), "--database", self.tenant.services.settings.database_url)
        settings = {**self.settings, **changed}
        return await to_thread.run_sync(lambda: run(self.home, *words, *place, **settings))

    async def found(self, *words: str) -> Any:
        """What a command prints as JSON."""
        done = await self.command(*words, "--json")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return json.loads(done.stdout)

    async def topup(self, amount: str = "50.00") -> str:
        """Asks for a top-up. Returns the id of its Checkout Session."""
        made = await self.found("orgs", "topup", ORGANIZATION, f"--amount={amount}")
        return next(name for name, session in self.stripe.sessions.items() if session["url"] == made["url"])

    async def topups(self) -> list[dict[str, Any]]:
        """The top-ups of the organization, newest first."""
        return await self.found("orgs", "topups", ORGANIZATION)

    async def states(self) -> list[str]:
        return [one["status"] for one in await self.topups()]

    async def tell(self, said: dict[str, Any]) -> Response:
        """Sends an event as Stripe does."""
        body = json.dumps(said).encode()
        return await self.send(body, signature(body))

    async def send(self, body: bytes, signed: str | None) -> Response:
        """Sends a body with this signature."""
        headers = {b"Content-Type": b"application/json"}
        if signed is not None:
            headers[b"Stripe-Signature"] = signed.encode("latin-1")
        async with raw_client(self.tenant, key=None) as http:
            return await http.post(WEBHOOK, content=body, headers=headers)

    async def balance(self) -> str:
        """What the wallet holds."""
        return (await self.client.wallet.get()).balance.amount

    async def booked(self) -> list[tuple[str, str]]:
        """The movements of the wallet, oldest first: type and amount."""
        newest_first = [(entry.type, entry.amount.amount) async for entry in self.client.wallet.list_transactions()]
        return newest_first[::-1]

    async def reconcile(self, later_ms: int) -> int:
        """A comparison of the pending top-ups with Stripe, so much later."""
        services = self.tenant.services
        now_ms = services.clock.now_ms() + later_ms
        given = (services.database, services.ids, services.settings.payments, PUBLIC_URL)
        return await reconciliation.run(*given, now_ms)


@asynccontextmanager
async def paying(database_url: str, home: Path) -> AsyncGenerator[Paying]:
    """All of it, until the block ends."""
    async with imitated() as stripe:
        settings = ServiceSettings(data=home, database_url=database_url, public_url=PUBLIC_URL)
        settings = replace(
            settings,
            payments=PaymentSettings(
                provider="stripe",
                stripe_secret_key=SECRET_KEY,
                stripe_webhook_secret=WEBHOOK_SECRET,
                stripe_api_base=stripe.url,
            ),
        )
        variables = {
            "CALLWRIGHT_PAYMENTS": "stripe",
            "CALLWRIGHT_STRIPE_SECRET_KEY": SECRET_KEY,
            "CALLWRIGHT_STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "CALLWRIGHT_STRIPE_API_BASE": stripe.url,
            "CALLWRIGHT_PUBLIC_URL": PUBLIC_URL,
        }
        async with open_service(database_url, home / "data", settings=settings, workers=False) as tenant:
            made = Paying(tenant, stripe, tenant.client, home, variables)
            await made.found("orgs", "create", ORGANIZATION, "--real-money")
            key = (await made.found("keys", "create", "--org", ORGANIZATION))["secret"]
            async with Client(BASE_URL, key, transport=ASGITransport(app=tenant.service.asgi)) as client:
                yield replace(made, client=client)
