"""The settings of a campaign are declared alike wherever they stand: as they are kept, made, changed and shown."""

from typing import Any, get_args

import pytest

from callwright.contract.deployments.deployments import CreateDeployment, Deployment, UpdateDeployment
from callwright.contract.deployments.settings import SETTINGS, CampaignSettings


def _schema(model: Any, name: str) -> dict[str, Any]:
    """What the JSON schema says of the values of a field: its bounds and kinds, without words."""
    found: dict[str, Any] = model.model_json_schema()["properties"][name]
    if nullable := found.get("anyOf"):
        found = next(one for one in nullable if one != {"type": "null"}) | {"default": found.get("default")}
    return {key: value for key, value in found.items() if key not in ("title", "description", "default")}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_made_and_changed_within_the_bounds_it_is_kept_in(name: str) -> None:
    kept = _schema(CampaignSettings, name)
    assert _schema(CreateDeployment, name) == kept
    assert _schema(UpdateDeployment, name) == kept


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_one_default(name: str) -> None:
    assert CreateDeployment.model_fields[name].default == CampaignSettings.model_fields[name].default


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_shown_and_null_where_there_is_no_campaign(name: str) -> None:
    assert type(None) in get_args(Deployment.model_fields[name].annotation)
