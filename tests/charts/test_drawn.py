"""Test `drawn_frame`, which reads the data of a chart."""

from selfattn.charts.vega import drawn_frame

RECORDS = [{"x": 1, "y": 2.5}, {"x": 2, "y": 3.5}]


def test_records_are_found_at_any_depth():
    spec = {
        "datasets": {"data-1": RECORDS},
        "vconcat": [{"data": {"name": "data-1"}}, {"layer": [{"data": {"values": [1, 2]}}]}],
    }
    frame = drawn_frame(spec)
    assert frame[frame["part"] == 1][["x", "y"]].to_dict("records") == RECORDS
    assert frame[frame["part"] == 2]["value"].tolist() == [1, 2]


def test_each_dataset_is_listed_once():
    held = [{**record, "url": "data:image/png;base64,AA"} for record in RECORDS]
    spec = {"data": {"values": held}, "layer": [{"data": {"values": held}}, {"mark": "bar"}]}
    assert drawn_frame(spec).to_dict("records") == RECORDS
    assert drawn_frame({"mark": "bar"}).empty
    held[0]["url"] = "a word"  # not a column of pictures
    assert list(drawn_frame({"data": {"values": held}})) == ["x", "y", "url"]
